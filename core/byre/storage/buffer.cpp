// SPDX-License-Identifier: BSL-1.0
#include <byre/storage/detail/buffer_impl.hpp>

namespace byre::inline v0 {

template cow::basic_header<sync::Boost>* cow::create_paged<sync::Boost>(std::size_t, Allocator&);
template Buffer Buffer::allocate_tile(std::size_t, Allocator&);
template Buffer Buffer::map_file(FileName, Allocator&);
template Buffer Buffer::writable_clone(Wait, CallSite, Writers);
template void Buffer::resize(std::size_t, CallSite);
template void Buffer::shrink_to_fit(CallSite);
template const void* Buffer::memory_id() const noexcept;
template void Buffer::collapse(std::size_t, std::size_t) noexcept;
template Materialized Buffer::materialize_and_report_in(stats::detail::WriteReport&, Wait,
                                                        CallSite);
template void Buffer::expect_range(std::size_t, std::size_t, CallSite) const;
template std::span<std::byte> Buffer::populated(std::size_t, std::size_t);
template Materialized Buffer::copy_or_steal_unordinary(Wait, CallSite, stats::detail::WriteReport&);
template bool Buffer::map_overlay(stats::CopyCause, CallSite, stats::detail::WriteReport&);
template auto Buffer::copy_at_once(stats::CopyCause, CallSite) const -> Header*;

}  // namespace byre::inline v0
