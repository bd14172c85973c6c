//! Bedrock's Converse: any JSON Schema in `inputSchema.json`; the model behind it sets the rules, so the common ones of
//! Anthropic's are kept.
use super::profile::{Profile, PropertyNames};

pub(super) const PROFILE: Profile = Profile { properties: PropertyNames::Dotted, ..Profile::OPEN };
