//! What the paper prints: the settings of its experiments, and what it says of their outcomes.
//!
//! The source of the paper that we have is without the pictures of Figs. 1, 2 and 3, so there are no numbers to compare
//! with, only words: each [`Claim`] is one of them.

/// The side of a patch in pixels (§II-B).
pub const PATCH_SIDE: usize = 8;
/// How many training patches are drawn, before the nearly flat ones are taken out (§II-B).
pub const TRAINING_PATCHES: usize = 100_000;
/// How many patches the ensembles are tested on (§II-B).
pub const TEST_PATCHES: usize = 1000;
/// K, the sizes of the dictionaries (§III-C; §II-B prints 1025 for 1024).
pub const SIZES: [usize; 3] = [256, 1024, 2048];
/// K of Fig. 3 (§III-C).
pub const CURVE_SIZE: usize = 1024;
/// L, the models of an ensemble (§II-B, §III-C).
pub const N_MODELS: usize = 20;
/// λ of Eq. (1), in training and in testing (§II-B, §III-C).
pub const LAMBDA: f64 = 0.2;

/// Something the paper says that a run can confirm or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// The section.
    pub place: &'static str,
    /// What it says, in short.
    pub words: &'static str,
    /// Whether it follows from the definitions, so that it holds on any data; else it is what the authors observed.
    pub always: bool,
}

/// Fig. 1: the bound of Eq. (7).
pub const BOUND: Claim = Claim {
    place: "§II-A, Eq. (7)",
    words: "in each of the four cases the combination is at least as good as the best member, patch by patch",
    always: true,
};

/// Fig. 1: nested constraints.
pub const NESTED_CASES: Claim =
    Claim {
        place: "§II-A", words: "r1 ≤ r2 ≤ r4 and r1 ≤ r3 ≤ r4: more constraints, more error", always: true
    };

/// Fig. 1: no theorem, as neither set of weights holds the other.
pub const CASE_2_BELOW_3: Claim = Claim {
    place: "§II-A",
    words: "r2 ≤ r3: weights that sum to one have more error than non-negative ones",
    always: false,
};

/// Fig. 1: sizes.
pub const LARGER_IS_BETTER: Claim = Claim {
    place: "§II-B",
    words: "larger dictionaries make better ensembles, in each of the four cases",
    always: false,
};

/// Fig. 2: the error of a member is its mean over the test patches.
pub const BETTER_THAN_BEST_MEMBER: Claim =
    Claim { place: "§III-C", words: "each ensemble is better than the best of its members", always: false };

/// Fig. 2: the same words, read for each patch on its own.
pub const BETTER_THAN_BEST_OF_EACH: Claim = Claim {
    place: "§III-C",
    words: "read more strictly: each ensemble is better than the best member chosen anew for every patch",
    always: false,
};

/// Figs. 2 and 3: what Eq. (10) gives with α_1 = 1.
pub const WEIGHTS_SUM_TO_ONE: Claim =
    Claim { place: "§III-B, Eq. (10)", words: "the weights β of every ensemble sum to one", always: true };

/// Fig. 3: what Eq. (12) gives, as α_l = 0 would keep the error.
pub const TRAINING_NEVER_RISES: Claim =
    Claim { place: "§III-B, Eq. (12)", words: "the training error of boosting never rises", always: true };

/// Fig. 3: the first half of the last sentence of §III-C.
pub const MORE_MODELS_LESS_ERROR: Claim =
    Claim { place: "§III-C", words: "the error falls each time the number of models is doubled", always: false };

/// Fig. 3: the same words, read for each model.
pub const EACH_MODEL_LESS_ERROR: Claim =
    Claim { place: "§III-C", words: "read more strictly: the error falls with every single model", always: false };

/// Fig. 3: the second half of it.
pub const FLATTENS: Claim = Claim {
    place: "§III-C",
    words: "the error flattens out: the second half of the models gains less than the first",
    always: false,
};
