// SPDX-License-Identifier: BSL-1.0
/// Systems without memory files.
#include <byre/ipc/detail/transfers.hpp>
#include <byre/ipc/send.hpp>

namespace byre::inline BYRE_ABI {
namespace {

[[noreturn]] void throw_unsupported(const char* operation) {
  throw TransferError(
      format_text("cannot %s data: lazy clones in other processes need Linux. Copy the bytes "
                  "through a pipe or a file instead.",
                  operation));
}

}  // namespace

void detail::throw_invalid(const char*) {
  throw_unsupported("import");
}

ExportedPages detail::Transfers::export_buffer(const Buffer&, DataKind, std::span<const std::byte>,
                                               bool, CallSite) {
  throw_unsupported("export");
}
ExportedPages detail::Transfers::export_copy(DataKind, std::span<const std::byte>, const Allocator&,
                                             std::size_t, std::uint64_t, Copy, const void*,
                                             CallSite, const stats::detail::DataFacts&) {
  throw_unsupported("export");
}
ExportedPages detail::Transfers::export_storage(const Storage&, DataKind,
                                                std::span<const std::byte>, CallSite) {
  throw_unsupported("export");
}
detail::Imported detail::Transfers::import(std::span<const std::byte>, std::span<const int>,
                                           DataKind, Accept) {
  throw_unsupported("import");
}
ExportedPages detail::Transfers::receive(int) {
  throw_unsupported("receive");
}
detail::Imported detail::Transfers::receive(int, DataKind, Accept) {
  throw_unsupported("receive");
}

ExportedPages export_pages(const TiledBuffer&, CallSite) {
  throw_unsupported("export");
}
void detail::Transfers::send(int, const ExportedPages&) {
  throw_unsupported("send");
}

}  // namespace byre::inline BYRE_ABI
