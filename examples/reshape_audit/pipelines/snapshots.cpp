// SPDX-License-Identifier: BSL-1.0
#include "pipeline.hpp"

namespace examples::reshape_audit {
namespace {

void snapshot_by_reshape(Journal& journal) {
  Tensor state = counted({2, 3});
  const Tensor before = state.reshape({6});         // reshaped 1, clone 1
  byre::add_(state, 1.0);                           // written 1
  journal.saw(byre::sub(state.view({6}), before));  // then read 1
}

// The difference was always 0: the snapshot was none.
void snapshot_by_reshape_rewritten(Journal& journal) {
  Tensor state = counted({2, 3});
  const Tensor before = state.reshape({6}).clone();
  byre::add_(state, 1.0);
  journal.saw(byre::sub(state.view({6}), before));
}

void drift_from_a_snapshot(Journal& journal) {
  Tensor state = counted({2, 3});
  const Tensor initial = state.reshape({6});  // reshaped 1, view or clone 1
  for (int step = 0; step < 3; ++step) {
    byre::add_(state, 1.0);                            // written 1
    journal.saw(byre::sub(state.view({6}), initial));  // then read 1
  }
}

// The drift was always 0, as after one step.
void drift_from_a_snapshot_rewritten(Journal& journal) {
  Tensor state = counted({2, 3});
  const Tensor initial = state.reshape({6}).clone();
  for (int step = 0; step < 3; ++step) {
    byre::add_(state, 1.0);
    journal.saw(byre::sub(state.view({6}), initial));
  }
}

void snapshot_by_lazy_clone(Journal& journal) {
  Tensor state = counted({2, 3});
  const Tensor before = state.lazy_clone().reshape({6});
  byre::add_(state, 1.0);
  journal.saw(byre::sub(state.view({6}), before));
}

void scratch_for_two(Journal& journal) {
  const Tensor scratch = Tensor::zeros({6}, DType::f32);
  Tensor sums = scratch.reshape({2, 3});    // reshaped 2, clone 2
  Tensor counts = scratch.reshape({3, 2});  // reshaped 1 3, clone 1 3
  byre::fill_(sums, 5);                     // written 1 3
  Tensor last_count = counts.select(0, 2);
  byre::fill_(last_count, 7);  // then written 1, written 2
  journal.saw(sums);           // then read 2
  journal.saw(counts);         // seen 1, then read 3
}

// Each was to have its own contents.
void scratch_for_two_rewritten(Journal& journal) {
  const Tensor scratch = Tensor::zeros({6}, DType::f32);
  Tensor sums = scratch.reshape({2, 3}).clone();
  Tensor counts = scratch.reshape({3, 2}).clone();
  byre::fill_(sums, 5);
  Tensor last_count = counts.select(0, 2);
  byre::fill_(last_count, 7);
  journal.saw(sums);
  journal.saw(counts);
}

void scratch_filled_twice(Journal& journal) {
  const Tensor scratch = Tensor::zeros({6}, DType::f32);
  Tensor sums = scratch.reshape({2, 3});    // reshaped 2, clone 2
  Tensor counts = scratch.reshape({3, 2});  // reshaped 1, nothing 1
  byre::fill_(sums, 5);                     // written 1
  byre::fill_(counts, 7);                   // then written 1, written 2
  journal.saw(sums);                        // then read 2, seen 1
  journal.saw(counts);
}

// Each was to have its own contents.
void scratch_filled_twice_rewritten(Journal& journal) {
  const Tensor scratch = Tensor::zeros({6}, DType::f32);
  Tensor sums = scratch.reshape({2, 3}).clone();
  Tensor counts = scratch.reshape({3, 2}).clone();
  byre::fill_(sums, 5);
  byre::fill_(counts, 7);
  journal.saw(sums);
  journal.saw(counts);
}

void two_monitors(Journal& journal) {
  Tensor state = counted({2, 3});
  const Tensor tall = state.reshape({3, 2});  // reshaped 1, view or clone 1
  const Tensor flat = state.reshape({6});     // reshaped 2, view or clone 2
  for (int step = 0; step < 2; ++step) {
    byre::mul_(state, 2.0);             // written 1 2
    journal.saw(byre::sum(tall, {1}));  // then read 1
    journal.saw(byre::sum(flat));       // then read 2
  }
}

void two_monitors_rewritten(Journal& journal) {
  Tensor state = counted({2, 3});
  const Tensor tall = state.view({3, 2});
  const Tensor flat = state.view({6});
  for (int step = 0; step < 2; ++step) {
    byre::mul_(state, 2.0);
    journal.saw(byre::sum(tall, {1}));
    journal.saw(byre::sum(flat));
  }
}

void rejoined_by_copy(Journal& journal) {
  Tensor state = counted({2, 3});
  Tensor window = state.reshape({6});
  for (int step = 0; step < 3; ++step) {
    byre::add_(state, 1.0);
    byre::copy_(window, state.view({6}));  // what an alias has already, and a copy has not
    journal.saw(window);
  }
}

}  // namespace

Pipelines snapshot_pipelines() {
  return {
      {"snapshot_by_reshape",
       "a reshape is kept to compare with while the original changes",
       snapshot_by_reshape,
       {snapshot_by_reshape_rewritten, as_copy}},
      {"drift_from_a_snapshot",
       "the same in a loop, compared with after each of many writes",
       drift_from_a_snapshot,
       {drift_from_a_snapshot_rewritten, as_copy}},
      {"snapshot_by_lazy_clone", "a lazy clone is kept to compare with", snapshot_by_lazy_clone},
      {"scratch_for_two",
       "one scratch tensor under two shapes, each written and then read",
       scratch_for_two,
       {scratch_for_two_rewritten, as_copy}},
      {"scratch_filled_twice",
       "the same, and all of it is written each time",
       scratch_filled_twice,
       {scratch_filled_twice_rewritten, as_copy}},
      {"two_monitors",
       "two windows show each write: none hides it from the other",
       two_monitors,
       {two_monitors_rewritten, as_alias}},
      {"rejoined_by_copy", "what was written is copied to the reshape before that is read",
       rejoined_by_copy},
  };
}

}  // namespace examples::reshape_audit
