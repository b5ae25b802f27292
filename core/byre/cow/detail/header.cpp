// SPDX-License-Identifier: BSL-1.0
#include <byre/cow/detail/header.hpp>

namespace byre::inline v0 {

template <>
constinit cow::basic_no_data<sync::Boost>
    sync::detail::Singleton<cow::basic_no_data<sync::Boost>>::object{};

}  // namespace byre::inline v0
