// SPDX-License-Identifier: BSL-1.0
#include "pipeline.hpp"

namespace examples::reshape_audit {
namespace {

void flat_parameters(Journal& journal) {
  Tensor parameters = counted({8});
  const Tensor weights = parameters.narrow(0, 0, 6).reshape({3, 2});  // reshaped 1, view or clone 1
  const Tensor bias = parameters.narrow(0, 6, 2).reshape({1, 2});     // reshaped 2, view or clone 2
  const Tensor input = counted({1, 3});
  for (int step = 0; step < 3; ++step) {
    const Tensor hidden = byre::matmul(input, weights);  // then read 1
    journal.saw(byre::add(hidden, bias));                // then read 2, seen 1
    byre::sub_(parameters, 0.5);                         // written 1 2
  }
}

void flat_parameters_rewritten(Journal& journal) {
  Tensor parameters = counted({8});
  const Tensor weights = parameters.narrow(0, 0, 6).view({3, 2});
  const Tensor bias = parameters.narrow(0, 6, 2).view({1, 2});
  const Tensor input = counted({1, 3});
  for (int step = 0; step < 3; ++step) {
    const Tensor hidden = byre::matmul(input, weights);
    journal.saw(byre::add(hidden, bias));
    byre::sub_(parameters, 0.5);
  }
}

void gradient_accumulation(Journal& journal) {
  Tensor gradients = Tensor::zeros({6}, DType::f32);
  Tensor of_layer = gradients.reshape({2, 3});  // reshaped 1 2, view 1 2
  for (int step = 0; step < 2; ++step) {
    for (int part = 0; part < 2; ++part) {
      byre::add_(of_layer, counted({2, 3}));  // written 1, then read 2
    }
    journal.saw(byre::sum(byre::mul(gradients, gradients)));  // then read 1, seen 2
    byre::zero_(gradients);                                   // written 2
  }
}

void gradient_accumulation_rewritten(Journal& journal) {
  Tensor gradients = Tensor::zeros({6}, DType::f32);
  Tensor of_layer = gradients.view({2, 3});
  for (int step = 0; step < 2; ++step) {
    for (int part = 0; part < 2; ++part) {
      byre::add_(of_layer, counted({2, 3}));
    }
    journal.saw(byre::sum(byre::mul(gradients, gradients)));
    byre::zero_(gradients);
  }
}

void updated_after_use(Journal& journal) {
  Tensor parameters = counted({6});
  for (int step = 0; step < 3; ++step) {
    const Tensor weights = parameters.reshape({2, 3});  // anew in each step
    journal.saw(byre::matmul(counted({1, 2}), weights));
    byre::sub_(parameters, 0.5);
  }
}

}  // namespace

Pipelines training_pipelines() {
  return {
      {"flat_parameters",
       "layers are reshapes of one vector, which the optimizer updates",
       flat_parameters,
       {flat_parameters_rewritten, as_alias}},
      {"gradient_accumulation",
       "layers add to their part of one vector, which is then cleared",
       gradient_accumulation,
       {gradient_accumulation_rewritten, as_alias}},
      {"updated_after_use", "each step reshapes the vector, uses that, and then updates the vector",
       updated_after_use},
  };
}

}  // namespace examples::reshape_audit
