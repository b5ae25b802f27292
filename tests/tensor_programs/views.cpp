// SPDX-License-Identifier: BSL-1.0
#include <unordered_map>

#include "program.hpp"

namespace byre::test {
namespace {

using Made = std::vector<Tensor>;
using View = Made (*)(const Tensor& self, const functional::Arguments& given);

/// By operator. `given` are its constants_of().
const std::unordered_map<std::string, View>& views() {
  static const std::unordered_map<std::string, View> all{
      {"alias", [](auto& x, auto&) { return Made{x.alias()}; }},
      {"view", [](auto& x, auto& n) { return Made{x.view(n[0].dims())}; }},
      {"view.dtype", [](auto& x, auto& n) { return Made{x.view(n[0].dtype())}; }},
      {"view_as_real", [](auto& x, auto&) { return Made{x.view_as_real()}; }},
      {"view_as_complex", [](auto& x, auto&) { return Made{x.view_as_complex()}; }},
      {"permute", [](auto& x, auto& n) { return Made{x.permute(n[0].dims())}; }},
      {"transpose",
       [](auto& x, auto& n) { return Made{x.transpose(n[0].integer(), n[1].integer())}; }},
      {"t", [](auto& x, auto&) { return Made{x.t()}; }},
      {"movedim", [](auto& x, auto& n) { return Made{x.movedim(n[0].dims(), n[1].dims())}; }},
      {"squeeze", [](auto& x, auto&) { return Made{x.squeeze()}; }},
      {"squeeze.axis", [](auto& x, auto& n) { return Made{x.squeeze(n[0].integer())}; }},
      {"unsqueeze", [](auto& x, auto& n) { return Made{x.unsqueeze(n[0].integer())}; }},
      {"flatten", [](auto& x, auto& n) { return Made{x.flatten(n[0].integer(), n[1].integer())}; }},
      {"expand", [](auto& x, auto& n) { return Made{x.expand(n[0].dims())}; }},
      {"as_strided",
       [](auto& x, auto& n) {
         return Made{n[2].is_none() ? x.as_strided(n[0].dims(), n[1].dims())
                                    : x.as_strided(n[0].dims(), n[1].dims(), n[2].integer())};
       }},
      {"select", [](auto& x, auto& n) { return Made{x.select(n[0].integer(), n[1].integer())}; }},
      {"slice",
       [](auto& x, auto& n) {
         return Made{x.slice(n[0].integer(), n[1].integer(),
                             n[2].integer_or(byre::views::to_the_end), n[3].integer())};
       }},
      {"narrow",
       [](auto& x, auto& n) {
         return Made{x.narrow(n[0].integer(), n[1].integer(), n[2].integer())};
       }},
      {"diagonal",
       [](auto& x, auto& n) {
         return Made{x.diagonal(n[0].integer(), n[1].integer(), n[2].integer())};
       }},
      {"unfold",
       [](auto& x, auto& n) {
         return Made{x.unfold(n[0].integer(), n[1].integer(), n[2].integer())};
       }},
      {"split", [](auto& x, auto& n) { return x.split(n[0].integer(), n[1].integer()); }},
      {"split.sizes", [](auto& x, auto& n) { return x.split(n[0].dims(), n[1].integer()); }},
      {"chunk", [](auto& x, auto& n) { return x.chunk(n[0].integer(), n[1].integer()); }},
      {"unbind", [](auto& x, auto& n) { return x.unbind(n[0].integer()); }}};
  return all;
}

}  // namespace

functional::Arguments constants_of(const Step& step) {
  static const AnyTensor any = from_cpu(Tensor::empty({}, DType::u8));
  functional::Arguments arguments = functional::checked_arguments(
      functional::find(step.op).schema(), arguments_of(step, [](Ref) { return any; }));
  arguments.erase(arguments.begin());
  return arguments;
}

bool is_view(const Step& step) {
  return views().contains(step.op);
}

std::vector<Tensor> views_of(const Tensor& self, const Step& step) {
  return views().at(step.op)(self, constants_of(step));
}

}  // namespace byre::test
