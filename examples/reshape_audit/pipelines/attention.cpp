// SPDX-License-Identifier: BSL-1.0
#include "pipeline.hpp"

namespace examples::reshape_audit {
namespace {

constexpr std::int64_t batch = 2;
constexpr std::int64_t steps = 3;
constexpr std::int64_t heads = 2;
constexpr std::int64_t width = 2;  // of a head

/// [batch, steps, heads * width] as [batch, heads, steps, width].
Tensor split_into_heads(const Tensor& tokens) {
  return tokens.reshape({batch, steps, heads, width}).transpose(1, 2);
}

void attention(Journal& journal) {
  const Tensor tokens = counted({batch, steps, heads * width});
  const Tensor queries = split_into_heads(tokens);
  const Tensor scores = byre::matmul(queries, split_into_heads(tokens).transpose(2, 3));
  const Tensor mixed = byre::matmul(scores, split_into_heads(tokens)).transpose(1, 2);
  Tensor merged = mixed.reshape({batch, steps, heads * width});  // no view can say this: copied
  byre::mul_(merged, 0.5);
  journal.saw(merged);
  journal.saw(mixed);
  journal.saw(tokens);
}

void scaled_queries(Journal& journal) {
  const Tensor tokens = counted({batch, steps, heads * width});
  Tensor queries = tokens.reshape({batch, steps, heads, width});  // reshaped 1, view by mistake 1
  byre::mul_(queries, 0.5);                                       // written 1
  journal.saw(byre::sum(queries, {3}));
  journal.saw(byre::add(tokens, 1.0));  // then read 1
}

// That the residual was scaled as well was a mistake.
void scaled_queries_rewritten(Journal& journal) {
  const Tensor tokens = counted({batch, steps, heads * width});
  Tensor queries = tokens.reshape({batch, steps, heads, width}).clone();
  byre::mul_(queries, 0.5);
  journal.saw(byre::sum(queries, {3}));
  journal.saw(byre::add(tokens, 1.0));
}

void key_value_cache(Journal& journal) {
  const Tensor cache = Tensor::zeros({steps, heads * width}, DType::f32);
  const Tensor window = cache.reshape({steps, heads, width});  // reshaped 1, view 1
  for (std::int64_t step = 0; step < steps; ++step) {
    Tensor entry = window.select(0, step);
    byre::copy_(entry, byre::add(counted({heads, width}), step));  // written 1
    journal.saw(byre::sum(cache.narrow(0, 0, step + 1), {0}));     // then read 1
  }
}

void key_value_cache_rewritten(Journal& journal) {
  const Tensor cache = Tensor::zeros({steps, heads * width}, DType::f32);
  const Tensor window = cache.view({steps, heads, width});
  for (std::int64_t step = 0; step < steps; ++step) {
    Tensor entry = window.select(0, step);
    byre::copy_(entry, byre::add(counted({heads, width}), step));
    journal.saw(byre::sum(cache.narrow(0, 0, step + 1), {0}));
  }
}

}  // namespace

Pipelines attention_pipelines() {
  return {
      {"attention", "heads are split and merged by reshapes, of which the last has to copy",
       attention},
      {"scaled_queries",
       "queries are scaled in place, and the residual is the scaled one",
       scaled_queries,
       {scaled_queries_rewritten, as_copy}},
      {"key_value_cache",
       "a cache is written through a window and read as it is",
       key_value_cache,
       {key_value_cache_rewritten, as_alias}},
  };
}

}  // namespace examples::reshape_audit
