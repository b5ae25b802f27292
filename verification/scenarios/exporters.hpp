// SPDX-License-Identifier: BSL-1.0
/// Buffers whose files are exported to other processes, for scenarios.
#pragma once

#include <byre/storage/detail/exported_header.hpp>

#include <limits>

#include "paged_buffers.hpp"

namespace byre::verification {

template <unsigned Owners>
class Exporters : public PagedOwners<Owners> {
 protected:
  using Paged = cow::basic_paged<Checked>;

  Exporters() {
    byre::detail::exports<Checked>();
    this->files_.are_exportable = true;
  }

  static Paged& paged_of(const CheckedBuffer& buffer) {
    return cow::basic_overlay<Checked>::base_of(
        byre::detail::ExportedHeader::share(buffer, CallSite::current()));
  }

  /// Each buffer becomes an owner of one file.
  void share_a_file() {
    this->buffers_[0] = paged_buffer_of(7, this->files_);
    for (unsigned index = 1; index < Owners; ++index) {
      this->buffers_[index] = this->buffers_[0];
    }
  }
  /// Exports a buffer by core's export_file(), and then reads the written pages as export_pages()
  /// does.
  View export_view(const CheckedBuffer& buffer) {
    Paged& base = paged_of(buffer);
    expect(bool(base.export_file(buffer.origin() == Origin::overlay).file),
           "the system opens the file");
    const auto& page = *reinterpret_cast<const Page*>(buffer.data());
    const System::Call call(system_, step_of<"system.read_page_map">());
    View view{&static_cast<CellFile&>(base.file()).stored(), {}, page.get()};
    if (page.shows_own()) {
      view.written = page.value.get();
    }
    return view;
  }

  static bool was_written_back(const CheckedBuffer& of) {
    return static_cast<CellFile&>(paged_of(of).file()).was_written_back();
  }
  /// Closes the descriptor of an export that was not sent.
  void close(View view) {
    {
      const System::Call call(system_, step_of<"system.close">());
      system_.close_elsewhere(*view.file);
    }
    system_.wake();
  }

  /// Writes a buffer that holds `expected`. Returns whether the write was in place.
  bool write(CheckedBuffer& buffer, unsigned expected, unsigned written) {
    const std::byte* const before = buffer.data();
    Page& page = page_of(buffer);
    expect(page.get() == expected, "a writer finds what it shared");
    page.set(written);
    return buffer.data() == before;
  }

  /// The only owner of a file writes while a process has a view.
  void write_beside(Process& process, CheckedBuffer& buffer) {
    expect(process.receive() && process.map(), "a process receives its view");
    expect(!write(buffer, 7, 8), "an owner does not write in place while a view lives");
    expect(process.read(), "a process reads its view");
  }

  static byre::detail::Views collect(std::size_t most = std::numeric_limits<std::size_t>::max()) {
    return byre::detail::exports<Checked>().look(most);
  }

  /// Called at the end: kills the processes, expects that each buffer is its data's only user then,
  /// and drops the buffers. The checker finds what is not freed.
  template <class... Processes>
  void finish(Processes&... processes) {
    (processes.kill(), ...);
    for (CheckedBuffer& buffer : this->buffers_) {
      if (buffer.nbytes() != 0) {
        const unsigned value = read_page(buffer);
        expect(write(buffer, value, value + 1), "without views, a single owner writes in place");
        drop(buffer);
      }
    }
    expect(collect().remaining == 0, "without views, no copier is left for other processes");
  }

  System& system_ = this->files_.system;
};

/// The steps of a process that receives a view, writes and ends.
inline void use_view(Process& process) {
  static_cast<void>(process.receive() && process.map() && process.write(5) && process.end());
}

/// Two threads: one takes the steps of a process that has a view, the other those of an owner.
template <unsigned Owners>
class OwnersBesideView : public Exporters<Owners> {
 public:
  static constexpr unsigned threads = 2;

  void thread(unsigned index) {
    if (index == 1) {
      use_view(process_);
    } else {
      owner();
    }
  }
  void after() { this->finish(process_); }

 protected:
  virtual ~OwnersBesideView() = default;
  virtual void owner() = 0;

  /// Creates the data of the first buffer, and sends a view of it.
  void share_with_process() {
    this->share_a_file();
    process_.send(this->export_view(this->buffers_[0]));
  }

  Process process_{this->system_};
};

}  // namespace byre::verification
