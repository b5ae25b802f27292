// SPDX-License-Identifier: BSL-1.0
#include <byre/memory/budget_exceeded.hpp>
#include <byre/pages/detail/exported.hpp>
#include <byre/sync/detail/no_destructor.hpp>

#include <limits>

namespace byre::inline BYRE_ABI::detail {
namespace {

struct Exports {
  Exports() noexcept { set_unused_data(unused); }

  static constexpr UnusedData unused{[]() noexcept {
                                       constexpr auto all = std::numeric_limits<std::size_t>::max();
                                       return exports<sync::Default>().look(all).released != 0;
                                     },
                                     []() noexcept { exports<sync::Default>().await_releases(); }};

  basic_exports<sync::Default> list;
};

}  // namespace

template <>
basic_exports<sync::Default>& exports<sync::Default>() noexcept {
  return sync::no_destructor<Exports>().list;
}

}  // namespace byre::inline BYRE_ABI::detail
