//! Cohere: OpenAI's shape without `strict`; unknown keys beside the schema are refused.
use super::profile::Profile;

pub(super) const PROFILE: Profile = Profile::OPEN;
