//! Mistral: OpenAI's shape; the schema must be there and be valid.
use super::profile::Profile;

pub(super) const PROFILE: Profile = Profile::OPEN;
