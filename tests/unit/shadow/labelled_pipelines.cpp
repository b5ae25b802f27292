// SPDX-License-Identifier: BSL-1.0
#include "labelled_pipelines.hpp"

#include <numeric>
#include <utility>

namespace byre::test {
namespace {

using shadow::Advice;
constexpr auto as_alias = shadow::ReshapeMode::alias;
constexpr auto as_copy = shadow::ReshapeMode::copy;

Tensor f32_zeros(const Dims& sizes) {
  return Tensor::zeros(sizes, DType::f32);
}

/// 1, 2, 3 and so on.
Tensor numbered(const Dims& sizes) {
  std::vector<float> numbers(
      static_cast<std::size_t>(contiguous_layout(sizes, "numbered").numel()));
  std::iota(numbers.begin(), numbers.end(), 1.0F);
  return Tensor::of<float>(sizes, numbers);
}

std::vector<Pipeline> reading_pipelines() {
  return {
      {"channel_statistics", as_alias,
       [](Steps& s) {
         const Tensor image = numbered({3, 4, 4});
         const Tensor channels = s.reshape(1, image, {3, 16});
         const Tensor centered = sub(channels, div(sum(channels, {1}, true), 16.0));
         s.see(2, sum(mul(centered, centered), {1}));
         s.see(3, image);
       }},
      {"attention", as_alias,
       [](Steps& s) {
         const Tensor tokens = numbered({2, 3, 4});
         const Tensor heads = s.reshape(1, tokens, {2, 3, 2, 2}).transpose(1, 2);
         const Tensor mixed = matmul(matmul(heads, heads.transpose(2, 3)), heads).transpose(1, 2);
         Tensor merged = s.reshape(2, mixed, {2, 3, 4});  // no view can say this: copied
         mul_(merged, 0.5);
         s.see(3, merged);
         s.see(4, mixed);
         s.see(5, tokens);
       }},
      {"parser_returns_table", as_alias,
       [](Steps& s) {
         Tensor table = s.reshape(1, numbered({12}), {3, 4});  // nothing else has the buffer
         add_(table, 1.0);
         s.see(2, table);
       }},
      {"double_buffering", as_alias,
       [](Steps& s) {
         Tensor now = numbered({4, 4});
         Tensor next = f32_zeros({4, 4});
         for (int step = 0; step < 3; ++step) {
           copy_(next, mul(now, 0.5));
           s.see(2, sum(s.reshape(1, next, {2, 2, 4}), {1}));
           std::swap(now, next);
         }
       }},
      {"normalized_copy", as_alias,
       [](Steps& s) {
         const Tensor images = numbered({2, 4, 3});
         Tensor groups = s.reshape(1, images, {4, 6}).clone();
         sub_(groups, div(sum(groups, {1}, true), 6.0));
         s.see(2, groups);
         s.see(3, images);
       }},
      {"snapshot_by_lazy_clone", as_alias,
       [](Steps& s) {
         Tensor state = numbered({2, 3});
         const Tensor before = s.reshape(1, state.lazy_clone(), {6});
         add_(state, 1.0);
         s.see(2, sub(state.view({6}), before));
       }},
      {"updated_after_use", as_alias,
       [](Steps& s) {
         Tensor parameters = numbered({6});
         for (int step = 0; step < 3; ++step) {
           s.see(2, matmul(numbered({1, 2}), s.reshape(1, parameters, {2, 3})));
           sub_(parameters, 0.5);
         }
       }},
      {"rejoined_by_copy", as_alias,
       [](Steps& s) {
         Tensor state = numbered({2, 3});
         Tensor window = s.reshape(1, state, {6});
         for (int step = 0; step < 3; ++step) {
           add_(state, 1.0);
           copy_(window, state.view({6}));  // what an alias has already, and a copy has not
           s.see(2, window);
         }
       }},
  };
}

std::vector<Pipeline> pipelines_that_are_meant_to_alias() {
  return {
      {"patch_brightening",
       as_alias,
       [](Steps& s) {
         Tensor image = numbered({8, 8});
         Tensor patches = s.reshape(1, image, {2, 4, 2, 4}).permute({0, 2, 1, 3});
         Tensor corner = patches.select(0, 0).select(0, 1);
         mul_(s.written(2, corner), 2.0, s.at(2));
         s.see(3, image);
       },
       {{1, 2, 3, false, Advice::view}}},
      {"channel_centering",
       as_alias,
       [](Steps& s) {
         Tensor image = numbered({3, 4, 4});
         Tensor channels = s.reshape(1, image, {3, 16});
         const Tensor means = div(sum(channels, {1}, true), 16.0);
         sub_(s.written(2, channels), means, s.at(2));
         s.see(3, mul(image, image, s.at(3)));
       },
       {{1, 2, 3, false, Advice::view}}},
      {"key_value_cache",
       as_alias,
       [](Steps& s) {
         const Tensor cache = f32_zeros({3, 4});
         const Tensor window = s.reshape(1, cache, {3, 2, 2});
         for (std::int64_t step = 0; step < 3; ++step) {
           Tensor entry = window.select(0, step);
           copy_(s.written(2, entry), add(numbered({2, 2}), step), s.at(2));
           s.see(3, sum(cache.narrow(0, 0, step + 1), {0}, false, s.at(3)));
         }
       },
       {{1, 2, 3, false, Advice::view}}},
      {"parser_fills_rows",
       as_alias,
       [](Steps& s) {
         const Tensor buffer = f32_zeros({12});
         Tensor table = s.reshape(1, buffer, {3, 4});
         for (std::int64_t row = 0; row < 3; ++row) {
           s.written(2, table).set_at<float>({row, row}, static_cast<float>(row) + 1, s.at(2));
         }
         s.see(3, buffer);
       },
       {{1, 2, 3, false, Advice::view}}},
      {"parser_by_pointer",
       as_alias,
       [](Steps& s) {
         const Tensor buffer = f32_zeros({12});
         Tensor table = s.reshape(1, buffer, {3, 4});
         const auto cells = mutable_accessor<float, 2>(s.written(2, table), s.at(2));
         for (std::int64_t row = 0; row < 3; ++row) {
           cells(row, row) = static_cast<float>(row) + 1;
         }
         s.see(3, buffer);
       },
       {{1, 2, 3, false, Advice::view}}},
      {"header_and_records",
       as_alias,
       [](Steps& s) {
         Tensor packet = f32_zeros({4, 4});
         Tensor words = s.reshape(1, packet, {16});
         s.written(2, packet).set_at<float>({0, 0}, 42, s.at(2));
         for (std::int64_t row = 0; row < 3; ++row) {
           s.written(3, words).set_at<float>({4 * (row + 1)}, static_cast<float>(row) + 7, s.at(3));
         }
         s.see(4, packet);
         s.see(5, words);
       },
       {{1, 2, 3, true, Advice::view, {5}},
        {1, 3, 4, false, Advice::view},
        {1, 2, 5, false, Advice::view}}},
      {"flat_parameters",
       as_alias,
       [](Steps& s) {
         Tensor parameters = numbered({8});
         const Tensor weights = s.reshape(1, parameters.narrow(0, 0, 6), {3, 2});
         const Tensor bias = s.reshape(2, parameters.narrow(0, 6, 2), {1, 2});
         for (int step = 0; step < 3; ++step) {
           const Tensor hidden = matmul(numbered({1, 3}), weights, s.at(3));
           s.see(4, add(hidden, bias, s.at(4)));
           sub_(s.written(5, parameters), 0.5, s.at(5));
         }
       },
       {{1, 5, 3, false, Advice::view_or_clone, {4}}, {2, 5, 4, false, Advice::view_or_clone}}},
      {"gradient_accumulation",
       as_alias,
       [](Steps& s) {
         Tensor gradients = f32_zeros({6});
         Tensor of_layer = s.reshape(1, gradients, {2, 3});
         for (int step = 0; step < 2; ++step) {
           for (int part = 0; part < 2; ++part) {
             add_(s.written(2, of_layer), numbered({2, 3}), s.at(2));
           }
           s.see(3, mul(gradients, gradients, s.at(3)));
           zero_(s.written(4, gradients), s.at(4));
         }
       },
       {{1, 2, 3, false, Advice::view}, {1, 4, 2, false, Advice::view, {3}}}},
      {"halo_exchange",
       as_alias,
       [](Steps& s) {
         const Tensor field = numbered({8, 4});
         const Tensor tiles = s.reshape(1, field, {2, 4, 4});
         Tensor halo_of_lower = tiles.select(0, 1).select(0, 0);
         copy_(s.written(2, halo_of_lower), tiles.select(0, 0).select(0, 2), s.at(2));
         s.see(3, sum(field, {1}, false, s.at(3)));
       },
       {{1, 2, 3, false, Advice::view}}},
      {"double_buffering_of_frames",
       as_alias,
       [](Steps& s) {
         Tensor buffers = numbered({2, 4});
         const Tensor shown = s.reshape(1, buffers, {2, 2, 2});
         for (std::int64_t step = 0; step < 3; ++step) {
           Tensor next = buffers.select(0, step % 2);
           mul_(s.written(2, next), 0.5, s.at(2));
           s.see(3, shown.select(0, step % 2));
         }
       },
       {{1, 2, 3, false, Advice::view_or_clone}}},
      {"group_normalization",
       as_alias,
       [](Steps& s) {
         const Tensor images = numbered({2, 4, 3});
         Tensor groups = s.reshape(1, images, {4, 6});
         const Tensor flat = s.reshape(2, groups, {24});  // a reshape of a reshape
         sub_(s.written(3, groups), div(sum(groups, {1}, true), 6.0), s.at(3));
         s.see(4, images);
         s.see(5, flat);
       },
       {{1, 3, 4, false, Advice::view}, {2, 3, 5, false, Advice::view}}},
      {"two_monitors",
       as_alias,
       [](Steps& s) {
         Tensor state = numbered({2, 3});
         const Tensor tall = s.reshape(1, state, {3, 2});
         const Tensor flat = s.reshape(2, state, {6});
         for (int step = 0; step < 2; ++step) {
           mul_(s.written(3, state), 2.0, s.at(3));
           s.see(4, sum(tall, {1}, false, s.at(4)));
           s.see(5, sum(flat, {0}, false, s.at(5)));
         }
       },
       {{1, 3, 4, false, Advice::view_or_clone}, {2, 3, 5, false, Advice::view_or_clone}}},
  };
}

std::vector<Pipeline> pipelines_that_are_meant_to_copy() {
  return {
      {"scaled_queries",
       as_copy,
       [](Steps& s) {
         const Tensor tokens = numbered({2, 3, 4});
         Tensor queries = s.reshape(1, tokens, {2, 3, 2, 2});
         mul_(s.written(2, queries), 0.5, s.at(2));
         s.see(3, sum(queries, {3}));
         s.see(4, add(tokens, 1.0, s.at(4)));  // the residual, which is scaled too
       },
       {{1, 2, 4, false, Advice::view, {}, true}}},
      {"flattened_in_place",
       as_copy,
       [](Steps& s) {
         Tensor images = numbered({2, 3});
         const Tensor first = images.select(0, 0);
         s.reshape_(1, images, {6});
         relu_(sub_(s.written(2, images), 2.0, s.at(2)), s.at(2));
         s.see(3, first);
       },
       {{1, 2, 3, false, Advice::view, {}, true}}},
      {"snapshot_by_reshape",
       as_copy,
       [](Steps& s) {
         Tensor state = numbered({2, 3});
         const Tensor before = s.reshape(1, state, {6});
         add_(s.written(2, state), 1.0, s.at(2));
         s.see(3, sub(state.view({6}), before,
                      s.at(3)));  // always 0, as the snapshot follows the write
       },
       {{1, 2, 3, false, Advice::reshape_and_clone}}},
      {"drift_from_a_snapshot",
       as_copy,
       [](Steps& s) {
         Tensor state = numbered({2, 3});
         const Tensor initial = s.reshape(1, state, {6});
         for (int step = 0; step < 3; ++step) {
           add_(s.written(2, state), 1.0, s.at(2));
           s.see(3, sub(state.view({6}), initial, s.at(3)));
         }
       },
       {{1, 2, 3, false, Advice::view_or_clone}}},
      {"scratch_for_two",
       as_copy,
       [](Steps& s) {
         const Tensor scratch = f32_zeros({6});
         Tensor sums = s.reshape(1, scratch, {2, 3});
         Tensor counts = s.reshape(2, scratch, {3, 2});
         fill_(s.written(3, sums), 5, s.at(3));
         Tensor last_count = counts.select(0, 2);
         fill_(s.written(4, last_count), 7, s.at(4));
         s.see(5, sums);
         s.see(6, counts);
       },
       {{2, 3, 4, true, Advice::reshape_and_clone, {6}},
        {1, 4, 5, false, Advice::reshape_and_clone},
        {2, 3, 6, false, Advice::reshape_and_clone}}},
      {"scratch_filled_twice",
       as_copy,
       [](Steps& s) {
         const Tensor scratch = f32_zeros({6});
         Tensor sums = s.reshape(1, scratch, {2, 3});
         Tensor counts = s.reshape(2, scratch, {3, 2});
         fill_(s.written(3, sums), 5, s.at(3));
         fill_(s.written(4, counts), 7, s.at(4));
         s.see(5, sums);
         s.see(6, counts);
       },
       {{2, 3, 4, true, Advice::nothing, {5}}, {1, 4, 5, false, Advice::reshape_and_clone}}},
  };
}

}  // namespace

std::vector<Pipeline> labelled_pipelines() {
  std::vector<Pipeline> all = reading_pipelines();
  for (const auto& more :
       {pipelines_that_are_meant_to_alias(), pipelines_that_are_meant_to_copy()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace byre::test
