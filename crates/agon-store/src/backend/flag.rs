//! Yes and no, which the two databases say differently.

use sqlx::any::{AnyTypeInfo, AnyTypeInfoKind, AnyValueRef};
use sqlx::error::BoxDynError;
use sqlx::{Any, Decode, Type, ValueRef as _};

/// Yes or no, as a statement must return it: `e.boss = TRUE`. SQLite gives that as a number, and gives a bare column as a type of its own,
/// which the driver for both does not read.
#[derive(Clone, Copy, Debug)]
pub struct Flag(pub bool);

impl Type<Any> for Flag {
    fn type_info() -> AnyTypeInfo {
        <bool as Type<Any>>::type_info()
    }

    fn compatible(info: &AnyTypeInfo) -> bool {
        info.kind() == AnyTypeInfoKind::Bool || info.kind().is_integer()
    }
}

impl<'row> Decode<'row, Any> for Flag {
    fn decode(value: AnyValueRef<'row>) -> Result<Self, BoxDynError> {
        match value.type_info().kind() {
            AnyTypeInfoKind::Bool => <bool as Decode<Any>>::decode(value).map(Self),
            _ => <i64 as Decode<Any>>::decode(value).map(|number| Self(number != 0)),
        }
    }
}
