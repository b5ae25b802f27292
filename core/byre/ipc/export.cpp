// SPDX-License-Identifier: BSL-1.0
#include <byre/ipc/detail/constant_file.hpp>
#include <byre/ipc/detail/transfers.hpp>
#include <byre/storage/detail/exported_header.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace byre::inline BYRE_ABI {
namespace detail {
namespace {

using stats::CopyCause;

struct Runs {
  std::vector<PatchRun> all;
  std::size_t nbytes = 0;
  std::size_t mapping_nbytes = 0;
};

/// The runs of pages that were written in a private mapping; nullopt if they are not known, or if a
/// full copy costs less.
std::optional<Runs> written_runs(const std::byte* mapping, std::size_t nbytes) {
  Runs runs;
  runs.mapping_nbytes = nbytes;
  const auto add = [](void* context, std::size_t offset, std::size_t run_nbytes) noexcept {
    Runs& to = *static_cast<Runs*>(context);
    run_nbytes = std::min(run_nbytes, to.mapping_nbytes - offset);  // the last page may be partial
    try {
      to.all.push_back({offset, run_nbytes});
    } catch (const std::bad_alloc&) {
      return false;
    }
    to.nbytes += run_nbytes;
    return true;
  };
  return visit_written_pages(mapping, nbytes, add, &runs) ? std::optional(std::move(runs))
                                                          : std::nullopt;
}

/// Writes the runs and their bytes to a file.
void export_runs(const Runs& runs, const std::byte* mapping, ExportedFiles& exported) {
  const std::uint64_t count = runs.all.size();
  const auto table_nbytes = static_cast<std::size_t>(PatchRun::table_nbytes(count));
  ConstantFile file(table_nbytes + runs.nbytes);
  std::memcpy(file.data(), &count, sizeof count);
  std::memcpy(file.data() + sizeof count, runs.all.data(), runs.all.size() * sizeof(PatchRun));
  std::byte* to = file.data() + table_nbytes;
  for (const PatchRun& run : runs.all) {
    std::memcpy(to, mapping + run.offset, static_cast<std::size_t>(run.nbytes));
    to += run.nbytes;
  }
  exported.patch_nbytes = table_nbytes + runs.nbytes;
  exported.copied_nbytes = runs.nbytes;
  exported.patch = file.finish();
}

/// Exports data in pages without a full copy. Returns nullopt if it has to be copied.
std::optional<ExportedFiles> export_in_pages(ExportedHeader::Header& header, std::size_t nbytes,
                                             CallSite site) {
  if (!header.has_pages()) {
    return std::nullopt;
  }
  stats::detail::WriteReport report;
  report.begin();
  const bool is_overlay = header.origin() == Origin::overlay;
  ExportedHeader::Paged& base = ExportedHeader::Overlay::base_of(header);
  FileForOthers opened = base.export_file(is_overlay);
  if (!opened.file) {
    return std::nullopt;
  }
  ExportedFiles exported;
  exported.file = std::move(opened.file);
  exported.file_nbytes =
      std::min(base.file().nbytes(), static_cast<std::size_t>(whole_pages(nbytes)));
  // The file's own mapping is private if it may not change any more, because the process forked.
  const bool is_private = is_overlay || (header.origin() == Origin::paged && !opened.may_change);
  if (is_private) {
    const auto* const mapping = static_cast<const std::byte*>(header.data());
    const std::optional<Runs> runs = written_runs(mapping, exported.file_nbytes);
    if (!runs) {
      return std::nullopt;
    }
    if (runs->nbytes != 0) {
      export_runs(*runs, mapping, exported);
      report.copied(header, stats::detail::DataFacts{}, {runs->nbytes, CopyCause::exported, site});
    }
  }
  return exported;
}

}  // namespace

ExportedPages Transfers::pack(DataKind kind, std::size_t nbytes, ExportedFiles files,
                              std::span<const std::byte> details) {
  TransferMessage message{.kind = kind,
                          .nbytes = nbytes,
                          .file_nbytes = files.file_nbytes,
                          .patch_nbytes = files.patch_nbytes};
  std::copy(details.begin(), details.end(), message.details.begin());
  ExportedPages exported;
  std::memcpy(exported.message_.data(), &message, sizeof message);
  exported.nbytes_ = nbytes;
  exported.copied_nbytes_ = files.copied_nbytes;
  std::array<Descriptor, 2> both = {std::move(files.file), std::move(files.patch)};
  exported.take_files(both);
  return exported;
}

ExportedPages Transfers::export_copy(DataKind kind, std::span<const std::byte> details,
                                     const Allocator& allocator, std::size_t nbytes,
                                     std::uint64_t file_nbytes, Copy copy, const void* source,
                                     CallSite site, const stats::detail::DataFacts& facts) {
  if (nbytes == 0) {
    return pack(kind, 0, {}, details);
  }
  if (!allocator.device().is_cpu()) {
    throw InvalidArgument(format_text(
        "cannot export data of the %s: the data is on a device. Copy the data to the host first.",
        allocator.name()));
  }
  stats::detail::WriteReport report;
  report.begin();
  ConstantFile file(static_cast<std::size_t>(file_nbytes));
  copy(source, file.data());
  ExportedFiles exported;
  exported.file = file.finish();
  exported.file_nbytes = file.nbytes();
  exported.copied_nbytes = nbytes;
  report.copied(facts, stats::detail::DataFacts{}, {nbytes, CopyCause::exported, site});
  return pack(kind, nbytes, std::move(exported), details);
}

ExportedPages Transfers::export_buffer(const Buffer& data, DataKind kind,
                                       std::span<const std::byte> details, bool may_share,
                                       CallSite site) {
  const auto access = ExportedHeader::access(data, site);
  const std::size_t nbytes = data.nbytes(site);
  if (may_share && nbytes != 0) {
    if (auto shared = export_in_pages(ExportedHeader::share(data, site), nbytes, site)) {
      return pack(kind, nbytes, std::move(*shared), details);
    }
  }
  const auto copy = [](const void* source, std::byte* destination) {
    const Buffer& from = *static_cast<const Buffer*>(source);
    std::memcpy(destination, from.data(), from.nbytes());
  };
  return export_copy(kind, details, data.allocator(), nbytes, nbytes, copy, &data, site,
                     data.facts());
}

}  // namespace detail

ExportedPages detail::Transfers::export_storage(const Storage& data, DataKind kind,
                                                std::span<const std::byte> details, CallSite site) {
  return data ? export_buffer(ExportedHeader::buffer_of(data), kind, details, !data.is_pinned(),
                              site)
              : pack(kind, 0, {}, details);
}

ExportedPages export_pages(const TiledBuffer& data, CallSite site) {
  using detail::Transfers;
  const std::uint64_t tile_nbytes = data.tile_nbytes();
  const auto details = std::as_bytes(std::span(&tile_nbytes, 1));
  const std::size_t nbytes = data.nbytes();
  const detail::TilesInFile tiles{nbytes, tile_nbytes};
  const auto copy = [](const void* source, std::byte* destination) {
    const TiledBuffer& from = *static_cast<const TiledBuffer*>(source);
    const detail::TilesInFile to{from.nbytes(), from.tile_nbytes()};
    for (std::size_t index = 0; index < from.tile_count(); ++index) {
      const auto tile = from.tile(index);
      std::memcpy(destination + index * to.stride(), tile.data(), tile.size());
    }
  };
  return Transfers::export_copy(detail::DataKind::tiles, details, data.allocator(), nbytes,
                                tiles.count() * tiles.stride(), copy, &data, site);
}

}  // namespace byre::inline BYRE_ABI
