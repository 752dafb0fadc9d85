//! Tables of integer columns, and the macro that defines one.

use serde::Serialize;

/// A column of values as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// NumPy's name of the type: `<u8`, `<u4` or `|u1`.
    pub dtype: &'static str,
    /// Its values, little-endian.
    pub bytes: Vec<u8>,
}

/// Description of a column.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ColumnInfo {
    /// Its name.
    pub name: &'static str,
    /// NumPy's name of the type.
    pub dtype: &'static str,
    /// Unit of its values; empty for counts and codes.
    pub unit: &'static str,
    /// Meaning of the values.
    pub what: &'static str,
}

/// A table whose columns describe themselves.
pub trait Table {
    /// Its name, which is also its file's.
    const NAME: &'static str;
    /// Its columns.
    const COLUMNS: &'static [ColumnInfo];

    /// Number of rows.
    fn len(&self) -> usize;

    /// True if there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values, column by column.
    fn columns(&self) -> Vec<Column>;
}

/// An integer that a column can hold.
pub trait Cell: Copy {
    /// NumPy's name of the type.
    const DTYPE: &'static str;
    /// Append the value's bytes.
    fn append(self, bytes: &mut Vec<u8>);
}

macro_rules! cell {
    ($($type:ty => $dtype:literal),*) => {$(
        impl Cell for $type {
            const DTYPE: &'static str = $dtype;
            fn append(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}

cell!(u8 => "|u1", u32 => "<u4", u64 => "<u8");

/// All bytes of a column.
pub fn to_bytes<T: Cell>(values: &[T]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(std::mem::size_of_val(values));
    values.iter().for_each(|value| value.append(&mut bytes));
    bytes
}

/// Defines a row type and its table: for each field its unit and its meaning.
macro_rules! table {
    (
        $(#[$row_doc:meta])* row $row:ident;
        $(#[$table_doc:meta])* table $table:ident named $name:literal;
        $($field:ident: $type:ty, $unit:literal, $what:literal;)+
    ) => {
        $(#[$row_doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $row { $(#[doc = $what] pub $field: $type,)+ }

        $(#[$table_doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $table { $(#[doc = $what] pub $field: Vec<$type>,)+ }

        impl $table {
            /// Append a row.
            pub fn push(&mut self, row: $row) {
                $(self.$field.push(row.$field);)+
            }
        }

        impl $crate::table::Table for $table {
            const NAME: &'static str = $name;
            const COLUMNS: &'static [$crate::table::ColumnInfo] = &[$(
                $crate::table::ColumnInfo {
                    name: stringify!($field),
                    dtype: <$type as $crate::table::Cell>::DTYPE,
                    unit: $unit,
                    what: $what,
                },
            )+];

            fn len(&self) -> usize {
                [$(self.$field.len()),+][0]
            }

            fn columns(&self) -> Vec<$crate::table::Column> {
                vec![$(
                    $crate::table::Column {
                        name: stringify!($field),
                        dtype: <$type as $crate::table::Cell>::DTYPE,
                        bytes: $crate::table::to_bytes(&self.$field),
                    },
                )+]
            }
        }
    };
}

pub(crate) use table;
