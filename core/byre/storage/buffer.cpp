// SPDX-License-Identifier: BSL-1.0
#include <byre/storage/detail/buffer_impl.hpp>
#include <byre/storage/detail/version.hpp>

namespace byre::inline BYRE_ABI {

template <>
constinit detail::basic_version_numbers<sync::Default>
    sync::detail::Singleton<detail::basic_version_numbers<sync::Default>>::object{};

template cow::basic_header<sync::Default>* cow::create_paged<sync::Default>(std::size_t,
                                                                            Allocator&);
template Buffer basic_buffer<sync::Default>::allocate_tile(std::size_t, Allocator&);
template Buffer basic_buffer<sync::Default>::map_file(FileName, Allocator&);
template Buffer basic_buffer<sync::Default>::writable_clone(Wait, CallSite, Writers);
template void basic_buffer<sync::Default>::resize(std::size_t, CallSite);
template void basic_buffer<sync::Default>::resize_unsharing(std::size_t, CallSite);
template void basic_buffer<sync::Default>::shrink_to_fit(CallSite);
template const void* basic_buffer<sync::Default>::memory_id() const noexcept;
template void basic_buffer<sync::Default>::collapse(std::size_t, std::size_t) noexcept;
template Materialized basic_buffer<sync::Default>::materialize_and_report_in(
    stats::detail::WriteReport&, Wait, CallSite);
template void basic_buffer<sync::Default>::expect_range(std::size_t, std::size_t, CallSite) const;
template std::span<std::byte> basic_buffer<sync::Default>::populated(std::size_t, std::size_t);
template Materialized basic_buffer<sync::Default>::copy_or_steal_unordinary(
    Wait, CallSite, stats::detail::WriteReport&);
template bool basic_buffer<sync::Default>::map_overlay(stats::CopyCause, CallSite,
                                                       stats::detail::WriteReport&);
template auto basic_buffer<sync::Default>::copy_at_once(stats::CopyCause, CallSite) const
    -> Header*;

}  // namespace byre::inline BYRE_ABI
