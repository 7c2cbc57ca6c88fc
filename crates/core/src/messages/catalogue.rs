//! How a message is declared: `name(argument: type) { zh-TW, zh-CN, en }`. Where English has a form of its own for one
//! thing, it follows: `name(count: u32) { zh-TW, zh-CN, "{count} stages", count == 1: "{count} stage" }`.
//!
//! The macro makes one function per message, `name(lang, argument…) -> String`, and one `samples` function
//! per room, so that a snapshot shows all of them without a second list to keep.

/// A message rendered with stand-in arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    pub name: &'static str,
    pub text: String,
}

/// A stand-in argument for [`Sample`]s.
pub(crate) trait StandIn {
    fn stand_in(name: &'static str) -> Self;
}

impl StandIn for &str {
    fn stand_in(name: &'static str) -> Self {
        name
    }
}

macro_rules! number_stand_in {
    ($($number:ty),*) => {
        $(impl StandIn for $number {
            fn stand_in(_: &'static str) -> Self {
                3
            }
        })*
    };
}
number_stand_in!(i32, u32, u64, usize);

macro_rules! messages {
    ($(
        $(#[$meta:meta])*
        $name:ident($($arg:ident: $kind:ty),*) {
            $tw:literal, $cn:literal, $en:literal $(, $number:ident == 1: $singular:literal)?
        }
    )*) => {
        $(
            $(#[$meta])*
            pub fn $name(lang: $crate::messages::Lang, $($arg: $kind),*) -> String {
                match lang {
                    $crate::messages::Lang::ZhTw => format!($tw),
                    $crate::messages::Lang::ZhCn => format!($cn),
                    $($crate::messages::Lang::En if $number == 1 => format!($singular),)?
                    $crate::messages::Lang::En => format!($en),
                }
            }
        )*

        pub(crate) fn samples(lang: $crate::messages::Lang) -> Vec<$crate::messages::Sample> {
            vec![$(
                $crate::messages::Sample {
                    name: concat!(module_path!(), "::", stringify!($name)),
                    text: $name(
                        lang,
                        $(<$kind as $crate::messages::catalogue::StandIn>::stand_in(concat!("<", stringify!($arg), ">"))),*
                    ),
                }
            ),*]
        }
    };
}
