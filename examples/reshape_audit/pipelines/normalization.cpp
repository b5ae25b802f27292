// SPDX-License-Identifier: BSL-1.0
#include "pipeline.hpp"

namespace examples::reshape_audit {
namespace {

void group_normalization(Journal& journal) {
  const Tensor images = counted({2, 4, 3});
  Tensor groups = images.reshape({4, 6});                            // reshaped 1, view 1
  const Tensor flat = groups.reshape({24});                          // reshaped 2, view 2
  byre::sub_(groups, byre::div(byre::sum(groups, {1}, true), 6.0));  // written 1 2
  journal.saw(images);                                               // then read 1
  journal.saw(flat);                                                 // then read 2
}

void group_normalization_rewritten(Journal& journal) {
  const Tensor images = counted({2, 4, 3});
  Tensor groups = images.view({4, 6});
  const Tensor flat = groups.view({24});
  byre::sub_(groups, byre::div(byre::sum(groups, {1}, true), 6.0));
  journal.saw(images);
  journal.saw(flat);
}

void normalized_copy(Journal& journal) {
  const Tensor images = counted({2, 4, 3});
  Tensor groups = images.reshape({4, 6}).clone();
  byre::sub_(groups, byre::div(byre::sum(groups, {1}, true), 6.0));
  journal.saw(groups);
  journal.saw(images);
}

void flattened_in_place(Journal& journal) {
  Tensor images = counted({2, 3});
  const Tensor first = images.select(0, 0);
  images.reshape_({6});                  // reshaped 1, view by mistake 1
  byre::relu_(byre::sub_(images, 2.0));  // written 1
  journal.saw(first);                    // then read 1
}

// The row that was looked at before is to stay as it was.
void flattened_in_place_rewritten(Journal& journal) {
  Tensor images = counted({2, 3});
  const Tensor first = images.select(0, 0).clone();
  images.reshape_({6});
  byre::relu_(byre::sub_(images, 2.0));
  journal.saw(first);
}

}  // namespace

Pipelines normalization_pipelines() {
  return {
      {"group_normalization",
       "groups are centered in place, with a reshape of a reshape beside",
       group_normalization,
       {group_normalization_rewritten, as_alias}},
      {"normalized_copy", "the same of a copy that is made now", normalized_copy},
      {"flattened_in_place",
       "a tensor with an older view is reshaped in place, and written",
       flattened_in_place,
       {flattened_in_place_rewritten, as_copy}},
  };
}

}  // namespace examples::reshape_audit
