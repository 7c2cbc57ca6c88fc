//! The macro that all tables of the registry are written with.

/// Defines an enum as a table: one line per entry with the values of its columns.
///
/// The macro generates the enum, `ALL` with every entry in the order of the table, one `const fn` per column, and the
/// look-up by the column that it names. An entry cannot be missing from `ALL` or lack a value, since there is no second
/// list to keep up to date.
///
/// ```ignore
/// table! {
///     /// Which way a door opens.
///     #[derive(Debug, Clone, Copy, PartialEq, Eq)]
///     pub enum Direction {
///         Inwards("in", 1),
///         Outwards("out", 2),
///     }
///
///     struct DirectionRow {
///         /// The name in the file.
///         pub key: &'static str,
///         pub order: u8,
///     }
///
///     /// The direction with this key.
///     pub fn from_key(key) -> Option<Self>;
/// }
/// ```
macro_rules! table {
    (
        $(#[$enum_attribute:meta])*
        $visibility:vis enum $Name:ident {
            $( $(#[$entry_attribute:meta])* $Entry:ident($($value:expr),+ $(,)?), )+
        }

        struct $Row:ident {
            $( $(#[$column_attribute:meta])* $column_visibility:vis $column:ident: $column_type:ty, )+
        }

        $(#[$find_attribute:meta])*
        $find_visibility:vis fn $find:ident($by:ident) -> Option<Self>;
    ) => {
        $(#[$enum_attribute])*
        $visibility enum $Name {
            $( $(#[$entry_attribute])* $Entry, )+
        }

        struct $Row {
            $( $column: $column_type, )+
        }

        impl $Row {
            const fn new($( $column: $column_type ),+) -> Self {
                Self { $( $column ),+ }
            }
        }

        impl $Name {
            /// Every entry, in the order of the table.
            $visibility const ALL: [Self; [$( Self::$Entry ),+].len()] = [$( Self::$Entry ),+];

            $(
                $(#[$column_attribute])*
                $column_visibility const fn $column(self) -> $column_type {
                    self.row().$column
                }
            )+

            $(#[$find_attribute])*
            $find_visibility fn $find($by: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|entry| entry.$by() == $by)
            }

            const fn row(self) -> $Row {
                match self {
                    $( Self::$Entry => $Row::new($( $value ),+), )+
                }
            }
        }
    };
}

pub(crate) use table;
