//! Moonshot (Kimi): JSON Schema with rules of its own, "moonshot flavored".
use super::profile::Profile;

/// Every place says its type, or has branches that do; nothing stands beside `$ref`, no type beside `anyOf`; what is
/// required is described. Each is refused with 400 (kimi-cli#1595, #2061, #2475, kimi-code#792, #1610, opencode#37496).
pub(super) const PROFILE: Profile = Profile {
    ref_siblings: false,
    one_of: false,
    all_of: false,
    beside_any_of: false,
    anything: false,
    undescribed: false,
    ..Profile::OPEN
};
