//! What may yet turn out to be no call: it is read on, and given back as text if the doubt was right.
use super::output::Mark;
use super::trace::Reason;
use super::{Engine, Given, Mode, Reader};
use crate::turn::{Issue, IssueCode};

/// Why what is being read may turn out to be no call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    /// It stands in reasoning that may yet be closed.
    Reasoning,
    /// It stands in reasoning that was closed: it counts if nothing else follows.
    Draft,
    /// It stands in a fence that may hold something else as well.
    Fence,
    /// It stands in what may be inline code.
    InlineCode,
    /// It stands in the middle of a line, right behind a quotation mark that may close behind it.
    Quotes,
    /// It has no marker: the evidence is not all there yet, or an expression may yet go on behind it.
    Bare,
    /// It has no marker, and the policy takes it only as the whole answer.
    Alone,
    /// None of the names in it is offered.
    Names,
    /// It stands in the middle of a line that may yet go on as a sentence.
    Sentence,
}

impl Doubt {
    /// Why it is text if the doubt is right.
    fn reason(self) -> Reason {
        match self {
            Self::Reasoning | Self::Draft => Reason::Draft,
            Self::Fence => Reason::FenceOfCode,
            Self::InlineCode => Reason::InlineCode,
            Self::Alone => Reason::BarePolicy,
            Self::Names => Reason::NameNotOffered,
            Self::Quotes => Reason::Quoted,
            Self::Bare | Self::Sentence => Reason::Place,
        }
    }
}

/// What may turn out to be no call, and all that is needed to go back and make it text.
#[derive(Debug)]
pub(super) struct Hold {
    pub(super) doubt: Doubt,
    /// Where what is doubted begins.
    pub(super) at: usize,
    /// What had been found by then, and how far the text outside calls had been given out.
    pub(super) mark: Mark,
    pub(super) before: Given,
    opener_given: Option<usize>,
    /// Where what closes the reasoning stands, for [`Doubt::Draft`].
    pub(super) closer: usize,
    /// What had been found when the last of several calls began: those before it may stay without it.
    last: Option<Mark>,
}

impl Hold {
    /// What is certain is told now: the mark up to which it is.
    pub(super) fn release(&mut self) -> &mut Mark {
        if let Some(last) = &mut self.last {
            last.tells_before(self.mark);
        }
        &mut self.mark
    }
}

impl Engine {
    /// From here on nothing leaves until [`Self::keep`] or [`Self::go_back`].
    pub(super) fn hold(&mut self, doubt: Doubt, at: usize, before: Given) {
        self.hold = Some(Hold {
            doubt,
            at,
            mark: self.out.mark(),
            before,
            opener_given: self.leftover.opener_given,
            closer: at,
            last: None,
        });
    }

    /// What closes the reasoning stands at `closer`. If calls were drafted in it and the answer says nothing so far, they wait for
    /// what follows: alone, they are the answer. Else they are none.
    pub(super) fn draft_ends(&mut self, cx: &Reader<'_>, closer: usize) {
        let calls = self.out.calls.len();
        match &mut self.hold {
            Some(hold) if hold.doubt == Doubt::Reasoning => {
                if calls > 0 && hold.mark.calls() == 0 && !hold.mark.says_something() {
                    (hold.doubt, hold.closer) = (Doubt::Draft, closer);
                    let mark = hold.mark;
                    self.give(cx, closer, false);
                    self.out.think_since(mark);
                    self.given.mode = Mode::Reasoning;
                } else {
                    self.go_back(closer);
                }
            }
            _ => {}
        }
    }

    pub(super) fn holds(&self, doubt: Doubt) -> bool {
        self.hold.as_ref().is_some_and(|h| h.doubt == doubt)
    }

    /// The doubt is over: what was held is what it seemed.
    pub(super) fn keep(&mut self, doubt: Doubt) {
        if self.holds(doubt) {
            self.hold = None;
            self.unclear.forget();
        }
    }

    /// The words round a call do not speak of it: if that was the doubt, it is over.
    pub(super) fn keep_words(&mut self) {
        [Doubt::Quotes, Doubt::Sentence, Doubt::Bare].into_iter().for_each(|doubt| self.keep(doubt));
    }

    /// Another call begins in what is held, if that is for this doubt.
    pub(super) fn mark_last(&mut self, doubt: Doubt) {
        if let Some(hold) = self.hold.as_mut().filter(|hold| hold.doubt == doubt) {
            hold.last = Some(self.out.mark());
        }
    }

    /// The calls before the last one are what they seem, and that is none: nothing is left of it, which was read from `held`.
    pub(super) fn keep_all_but_last(&mut self, doubt: Doubt, held: std::ops::Range<usize>) {
        if let Some(mark) = self.hold.as_ref().filter(|hold| hold.doubt == doubt).and_then(|hold| hold.last) {
            self.out.go_back(mark, doubt.reason(), held);
        }
        self.keep(doubt);
    }

    /// The doubt was right: everything since is text, up to `to`.
    pub(super) fn go_back(&mut self, to: usize) -> bool {
        let Some(hold) = self.hold.take() else { return false };
        let calls = self.out.go_back(hold.mark, hold.doubt.reason(), hold.at..to);
        self.given = hold.before;
        self.leftover.opener_given = hold.opener_given;
        self.unclear.forget();
        self.at = to;
        self.section = None;
        self.leftover.unclosed = None;
        self.body = 0..0;
        if matches!(hold.doubt, Doubt::Reasoning | Doubt::Draft) {
            self.given.mode = Mode::Reasoning;
        }
        if calls > 0 && hold.doubt != Doubt::Names {
            let (code, what) = match hold.doubt {
                Doubt::Reasoning | Doubt::Draft => {
                    (IssueCode::DraftInReasoning, "a call drafted in closed reasoning was not taken")
                }
                Doubt::Quotes => (IssueCode::QuotedCall, "a call in quotation marks was not taken"),
                Doubt::Sentence => (IssueCode::QuotedCall, "a call in the middle of a sentence was not taken"),
                Doubt::Alone => {
                    (IssueCode::QuotedCall, "a call without markers is not the whole answer: it was not taken")
                }
                Doubt::Bare => (IssueCode::QuotedCall, "a call that the text speaks of was not taken"),
                _ => (IssueCode::QuotedCall, "a call shown as code was not taken"),
            };
            self.out.issue(Issue::at(code, hold.at, what));
        }
        true
    }
}
