//! Facts that only a trial can show.

use libbpf_rs::{MapType, ProgramType, set_print};

use super::read::Finding;
use crate::kernel::Compiler;
use crate::namespace::Namespace;
use crate::tun::Tun;

/// Check that the kernel accepts congestion control as BPF programs.
pub(super) fn struct_ops() -> Finding {
    // Without the privilege, libbpf would also print to standard error.
    let print = set_print(None);
    let supported = ProgramType::StructOps
        .is_supported()
        .and_then(|programs| Ok(programs && MapType::StructOps.is_supported()?));
    set_print(print);
    match supported {
        Ok(true) => Ok("struct_ops".into()),
        Ok(false) => Err("the kernel takes no struct_ops, or not from this user".into()),
        Err(error) => Err(error.to_string()),
    }
}

/// Find a compiler for algorithms.
pub(super) fn compiler() -> Finding {
    match Compiler::find() {
        Ok(compiler) => Ok(format!("{}, version {}", compiler.path.display(), compiler.version)),
        Err(error) => Err(cause(&error)),
    }
}

/// Check that namespaces can be made.
pub(super) fn namespace() -> Finding {
    match Namespace::new() {
        Ok(_) => Ok("can be made".into()),
        Err(error) => Err(cause(&error)),
    }
}

/// Check that a TUN device can be made. It disappears with its namespace.
pub(super) fn tun() -> Finding {
    let namespace = Namespace::new().map_err(|error| format!("no namespace: {}", cause(&error)))?;
    namespace
        .run(|| Tun::new("tun0", false).map(drop))
        .map(|()| "can be made".into())
        .map_err(|error| error.to_string())
}

fn cause(error: &crate::Error) -> String {
    match error {
        crate::Error::Machine { cause, .. } => cause.clone(),
        other => other.to_string(),
    }
}
