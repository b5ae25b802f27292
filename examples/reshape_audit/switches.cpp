// SPDX-License-Identifier: BSL-1.0
#include "switches.hpp"

#include <deque>

namespace examples::reshape_audit {
namespace {

struct {
  Switched now;
  Lines reshapes;
  std::deque<byre::Tensor> clones;  // pointers to them may be kept
} all_switches;

}  // namespace

SwitchScope::SwitchScope(const Switched& switched) {
  all_switches = {switched, {}, {}};
}
SwitchScope::~SwitchScope() {
  all_switches = {};
}

const Lines& SwitchScope::reshapes() noexcept {
  return all_switches.reshapes;
}

AtThisLine::AtThisLine(byre::CallSite site) : site_(site) {
  all_switches.reshapes.insert(site.line);
  if (site.line == all_switches.now.reshape) {
    copies_.emplace(byre::shadow::ReshapeMode::copy);
  }
}

byre::Tensor& written(byre::Tensor& tensor, byre::CallSite site) {
  return site.line == all_switches.now.write ? all_switches.clones.emplace_back(tensor.clone())
                                             : tensor;
}

}  // namespace examples::reshape_audit
