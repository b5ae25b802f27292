// SPDX-License-Identifier: BSL-1.0
#include <byre/cow/detail/header.hpp>

namespace byre::inline BYRE_ABI {

template <>
constinit cow::basic_no_data<sync::Default>
    sync::detail::Singleton<cow::basic_no_data<sync::Default>>::object{};

}  // namespace byre::inline BYRE_ABI
