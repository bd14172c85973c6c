//! Every API's wire format: response to [`crate::turn::Turn`], stream to events, turns and results back to messages.
