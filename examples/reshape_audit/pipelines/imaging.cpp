// SPDX-License-Identifier: BSL-1.0
#include "pipeline.hpp"

namespace examples::reshape_audit {
namespace {

void patch_brightening(Journal& journal) {
  Tensor image = counted({8, 8});
  Tensor patches = image.reshape({2, 4, 2, 4}).permute({0, 2, 1, 3});  // reshaped 1, view 1
  Tensor corner = patches.select(0, 0).select(0, 1);
  byre::mul_(corner, 2.0);  // written 1
  journal.saw(image);       // then read 1
}

void patch_brightening_rewritten(Journal& journal) {
  Tensor image = counted({8, 8});
  Tensor patches = image.view({2, 4, 2, 4}).permute({0, 2, 1, 3});
  Tensor corner = patches.select(0, 0).select(0, 1);
  byre::mul_(corner, 2.0);
  journal.saw(image);
}

void channel_centering(Journal& journal) {
  Tensor image = counted({3, 4, 4});
  Tensor channels = image.reshape({3, 16});  // reshaped 1, view 1
  const Tensor means = byre::div(byre::sum(channels, {1}, true), 16.0);
  byre::sub_(channels, means);                      // written 1
  journal.saw(byre::sum(byre::mul(image, image)));  // then read 1
}

void channel_centering_rewritten(Journal& journal) {
  Tensor image = counted({3, 4, 4});
  Tensor channels = image.view({3, 16});
  const Tensor means = byre::div(byre::sum(channels, {1}, true), 16.0);
  byre::sub_(channels, means);
  journal.saw(byre::sum(byre::mul(image, image)));
}

void channel_statistics(Journal& journal) {
  const Tensor image = counted({3, 4, 4});
  const Tensor channels = image.reshape({3, 16});
  const Tensor means = byre::div(byre::sum(channels, {1}, true), 16.0);
  const Tensor centered = byre::sub(channels, means);
  journal.saw(byre::sum(byre::mul(centered, centered), {1}));
  journal.saw(image);
}

}  // namespace

Pipelines imaging_pipelines() {
  return {
      {"patch_brightening",
       "one patch of an image is brightened, and the image is shown",
       patch_brightening,
       {patch_brightening_rewritten, as_alias}},
      {"channel_centering",
       "channels are centered in place, and the image's energy computed",
       channel_centering,
       {channel_centering_rewritten, as_alias}},
      {"channel_statistics", "means and variances of channels: reads only", channel_statistics},
  };
}

}  // namespace examples::reshape_audit
