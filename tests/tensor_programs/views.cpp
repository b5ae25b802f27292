// SPDX-License-Identifier: BSL-1.0
#include <unordered_map>

#include "program.hpp"

namespace byre::test {
namespace {

using Made = std::vector<Tensor>;

/// The arguments of a step without the viewed tensor: see constants_of().
struct Given {
  functional::Arguments all;

  std::int64_t operator[](std::size_t index) const { return all[index].integer(); }
  std::int64_t end() const { return all[2].integer_or(byre::views::to_the_end); }
  const Dims& dims(std::size_t index) const { return all[index].dims(); }
};
using View = Made (*)(const Tensor& self, const Given& given);

/// Functions that make views by members of Tensor, by the names of the corresponding operators.
const std::unordered_map<std::string, View>& views() {
  static const std::unordered_map<std::string, View> all{
      {"alias", [](auto& x, auto&) { return Made{x.alias()}; }},
      {"view", [](auto& x, auto& n) { return Made{x.view(n.dims(0))}; }},
      {"view.dtype", [](auto& x, auto& n) { return Made{x.view(n.all[0].dtype())}; }},
      {"view_as_real", [](auto& x, auto&) { return Made{x.view_as_real()}; }},
      {"view_as_complex", [](auto& x, auto&) { return Made{x.view_as_complex()}; }},
      {"permute", [](auto& x, auto& n) { return Made{x.permute(n.dims(0))}; }},
      {"transpose", [](auto& x, auto& n) { return Made{x.transpose(n[0], n[1])}; }},
      {"t", [](auto& x, auto&) { return Made{x.t()}; }},
      {"movedim", [](auto& x, auto& n) { return Made{x.movedim(n.dims(0), n.dims(1))}; }},
      {"squeeze", [](auto& x, auto&) { return Made{x.squeeze()}; }},
      {"squeeze.axis", [](auto& x, auto& n) { return Made{x.squeeze(n[0])}; }},
      {"unsqueeze", [](auto& x, auto& n) { return Made{x.unsqueeze(n[0])}; }},
      {"flatten", [](auto& x, auto& n) { return Made{x.flatten(n[0], n[1])}; }},
      {"expand", [](auto& x, auto& n) { return Made{x.expand(n.dims(0))}; }},
      {"as_strided",
       [](auto& x, auto& n) {
         return Made{n.all[2].is_none() ? x.as_strided(n.dims(0), n.dims(1))
                                        : x.as_strided(n.dims(0), n.dims(1), n[2])};
       }},
      {"select", [](auto& x, auto& n) { return Made{x.select(n[0], n[1])}; }},
      {"slice", [](auto& x, auto& n) { return Made{x.slice(n[0], n[1], n.end(), n[3])}; }},
      {"narrow", [](auto& x, auto& n) { return Made{x.narrow(n[0], n[1], n[2])}; }},
      {"diagonal", [](auto& x, auto& n) { return Made{x.diagonal(n[0], n[1], n[2])}; }},
      {"unfold", [](auto& x, auto& n) { return Made{x.unfold(n[0], n[1], n[2])}; }},
      {"split", [](auto& x, auto& n) { return x.split(n[0], n[1]); }},
      {"split.sizes", [](auto& x, auto& n) { return x.split(n.dims(0), n[1]); }},
      {"chunk", [](auto& x, auto& n) { return x.chunk(n[0], n[1]); }},
      {"unbind", [](auto& x, auto& n) { return x.unbind(n[0]); }}};
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
  return views().at(step.op)(self, {constants_of(step)});
}

}  // namespace byre::test
