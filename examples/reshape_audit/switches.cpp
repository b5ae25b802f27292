// SPDX-License-Identifier: BSL-1.0
#include "switches.hpp"

#include <deque>

namespace examples::reshape_audit {
namespace {

struct {
  Switched now;
  Lines reshapes;
  std::deque<byre::Tensor> clones;  // pointers to them may be kept
} state;

}  // namespace

SwitchScope::SwitchScope(const Switched& switched) {
  state = {switched, {}, {}};
}
SwitchScope::~SwitchScope() {
  state = {};
}

const Lines& SwitchScope::reshapes() noexcept {
  return state.reshapes;
}

AtThisLine::AtThisLine(byre::CallSite site) : site_(site) {
  state.reshapes.insert(site.line);
  if (site.line == state.now.reshape) {
    copies_.emplace(byre::shadow::ReshapeMode::copy);
  }
}

byre::Tensor& written(byre::Tensor& tensor, byre::CallSite site) {
  return site.line == state.now.write ? state.clones.emplace_back(tensor.clone()) : tensor;
}

}  // namespace examples::reshape_audit
