// SPDX-License-Identifier: BSL-1.0
/// Other processes have views of overlays, or of files that have overlays. While a view lives, no
/// page is written back to the file, and no page beneath an overlay is freed.
#include "exporters.hpp"

namespace byre::verification {
namespace {

/// An overlay that was not written is exported. It is dropped and the owner of the file writes,
/// while the other process uses its view.
class ViewsOfOverlays : public OwnersBesideView<2> {
 public:
  static constexpr std::string_view cover_points[] = {"a write in place", "a write in an overlay"};

  ViewsOfOverlays() {
    buffers_[0] = paged_buffer_of(7, files_);
    buffers_[1] = buffers_[0];
    buffers_[1].mutable_data();
    process_.send(export_view(buffers_[1]));
  }

  void owner() override {
    drop(buffers_[1]);
    cover(write(buffers_[0], 7, 8) ? "a write in place" : "a write in an overlay");
  }
};

/// Two buffers share an overlay of a file without owners. One is exported while the other is
/// written, which may write the overlay's page back. Another view shows the file's page until it
/// ends.
class ExportsRaceWriteBacks : public Exporters<2> {
 public:
  static constexpr unsigned threads = 2;
  static constexpr std::string_view cover_points[] = {
      "a page is written back", "no page is written back", "a page is exported by its file"};

  ExportsRaceWriteBacks() {
    CheckedBuffer file = paged_buffer_of(7, files_);
    of_file_.send(export_view(file));
    buffers_[0] = file;
    page_of(buffers_[0]).set(8);
    buffers_[1] = buffers_[0];
  }

  void thread(unsigned index) {
    if (index == 0) {
      static_cast<void>(of_file_.receive() && of_file_.map() && of_file_.end());
      const View view = export_view(buffers_[0]);
      cover_if(!view.written, "a page is exported by its file");
      of_overlay_.send(view);
    } else {
      write(buffers_[1], 8, 9);
      cover(was_written_back(buffers_[1]) ? "a page is written back" : "no page is written back");
    }
  }
  void after() {
    expect(of_overlay_.receive() && of_overlay_.map(), "a process receives its view");
    drop(buffers_[0]);
    CheckedBuffer last = buffers_[1];
    write(last, 9, 5);  // would write the page back without the view
    expect(of_overlay_.read(), "a process reads its view");
    drop(last);
    finish(of_file_, of_overlay_);
  }

 private:
  Process of_file_{system_};
  Process of_overlay_{system_, false};
};

/// A writable clone is exported and dropped, so that one written overlay of the file remains, which
/// is then cloned. The other process uses its view of the file's page.
class ViewsKeepPages : public OwnersBesideView<1> {
 public:
  static constexpr std::string_view cover_points[] = {"a page is written back"};

  ViewsKeepPages() {
    buffers_[0] = paged_buffer_of(7, files_);
    clone_ = buffers_[0].writable_clone();
    write(buffers_[0], 7, 8);
    process_.send(export_view(clone_));
  }

  void owner() override {
    drop(clone_);
    clone_ = buffers_[0].writable_clone();
    cover_if(was_written_back(clone_), "a page is written back");
    write(buffers_[0], 8, 9);
    expect(read_page(clone_) == 8, "a clone starts with its source's value");
    drop(clone_);
  }

 private:
  CheckedBuffer clone_;
};

/// A writable clone is made of data that another process has a view of.
class WritableClonesRaceViews : public OwnersBesideView<1> {
 public:
  WritableClonesRaceViews() { share_with_process(); }

  void owner() override {
    CheckedBuffer clone = buffers_[0].writable_clone();
    write(buffers_[0], 7, 8);
    write(clone, 7, 9);
    expect(read_page(buffers_[0]) == 8, "a buffer reads what it wrote");
    drop(clone);
  }
};

/// One overlay of a file without owners is exported, while the other is dropped, which may free the
/// file's page.
class ExportsRaceFreedPages : public Exporters<1> {
 public:
  static constexpr unsigned threads = 2;

  ExportsRaceFreedPages() {
    buffers_[0] = paged_buffer_of(7, files_);
    clone_ = buffers_[0].writable_clone();
    write(buffers_[0], 7, 8);
  }

  void thread(unsigned index) {
    if (index == 0) {
      process_.send(export_view(buffers_[0]));
    } else {
      drop(clone_);
    }
  }
  void after() {
    expect(process_.receive() && process_.map(), "a process receives its view");
    clone_ = buffers_[0];
    write(clone_, 8, 9);
    expect(process_.read(), "a process reads its view");
    drop(clone_);
    finish(process_);
  }

 private:
  Process process_{system_, false};
  CheckedBuffer clone_;
};

const Scenario* const exports_of_overlays_scenarios[] = {
    scenario<ViewsOfOverlays>("views_of_overlays",
                              "A view of an overlay keeps the overlay's file constant: I4.",
                              reduced_search),
    scenario<ExportsRaceWriteBacks>(
        "exports_race_write_backs",
        "An overlay may be exported while its page is written back, and no page is written back "
        "while another process shows it.",
        reduced_search),
    scenario<ViewsKeepPages>(
        "views_keep_pages",
        "A page under the last overlay is not freed while another process shows it.",
        reduced_search),
    scenario<ExportsRaceFreedPages>(
        "exports_race_freed_pages",
        "An overlay may be exported while the file's pages beneath it are freed.", reduced_search),
    scenario<WritableClonesRaceViews>("writable_clones_race_views",
                                      "A writable clone does not change another process's view.",
                                      reduced_search),
};

}  // namespace
}  // namespace byre::verification
