//! The contract between the front end and the engines, as JSON Schema.

use dumbbell_record::Summary;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::Scenario;

/// Describe the schemas of a resolved scenario and of a run's summary, by these names.
#[must_use]
pub fn describe_contract() -> Value {
    fn schema<T: JsonSchema>(settings: SchemaSettings) -> Value {
        settings.into_generator().into_root_schema_for::<T>().to_value()
    }
    json!({
        "scenario": schema::<Scenario>(SchemaSettings::draft2020_12()),
        "summary": schema::<Summary>(SchemaSettings::draft2020_12().for_serialize()),
    })
}
