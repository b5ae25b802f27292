// SPDX-License-Identifier: BSL-1.0
#include "pipeline.hpp"

#include <utility>

namespace examples::reshape_audit {
namespace {

// Two tiles of four rows, of which the first and the last are the neighbour's.

void halo_exchange(Journal& journal) {
  const Tensor field = counted({8, 4});
  const Tensor tiles = field.reshape({2, 4, 4});  // reshaped 1, view 1
  const Tensor upper = tiles.select(0, 0);
  Tensor halo_of_lower = tiles.select(0, 1).select(0, 0);
  byre::copy_(halo_of_lower, upper.select(0, 2));  // written 1
  journal.saw(byre::sum(field, {1}));              // then read 1
}

void halo_exchange_rewritten(Journal& journal) {
  const Tensor field = counted({8, 4});
  const Tensor tiles = field.view({2, 4, 4});
  const Tensor upper = tiles.select(0, 0);
  Tensor halo_of_lower = tiles.select(0, 1).select(0, 0);
  byre::copy_(halo_of_lower, upper.select(0, 2));
  journal.saw(byre::sum(field, {1}));
}

void double_buffering(Journal& journal) {
  Tensor now = counted({4, 4});
  Tensor next = Tensor::zeros({4, 4}, DType::f32);
  for (int step = 0; step < 3; ++step) {
    byre::copy_(next, byre::mul(now, 0.5));
    journal.saw(byre::sum(next.reshape({2, 2, 4}), {1}));
    std::swap(now, next);
  }
}

void double_buffering_of_frames(Journal& journal) {
  Tensor buffers = counted({2, 4});
  const Tensor shown = buffers.reshape({2, 2, 2});  // reshaped 1, view or clone 1
  for (std::int64_t step = 0; step < 3; ++step) {
    Tensor next = buffers.select(0, step % 2);
    byre::mul_(next, 0.5);                   // written 1
    journal.saw(shown.select(0, step % 2));  // then read 1
  }
}

void double_buffering_of_frames_rewritten(Journal& journal) {
  Tensor buffers = counted({2, 4});
  const Tensor shown = buffers.view({2, 2, 2});
  for (std::int64_t step = 0; step < 3; ++step) {
    Tensor next = buffers.select(0, step % 2);
    byre::mul_(next, 0.5);
    journal.saw(shown.select(0, step % 2));
  }
}

}  // namespace

Pipelines simulation_pipelines() {
  return {
      {"halo_exchange",
       "tiles exchange their borders, and the whole field is summed",
       halo_exchange,
       {halo_exchange_rewritten, as_alias}},
      {"double_buffering", "two buffers change places, and each frame is reshaped anew",
       double_buffering},
      {"double_buffering_of_frames",
       "frames are written to a buffer and shown through a window",
       double_buffering_of_frames,
       {double_buffering_of_frames_rewritten, as_alias}},
  };
}

}  // namespace examples::reshape_audit
