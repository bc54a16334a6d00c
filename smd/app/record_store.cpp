#include "smd/app/record_store.h"

#include <utility>

#include "smd/app/state_file.h"
#include "smd/base/log.h"

namespace smd::app {
namespace {

constexpr const char* kName = "records";

/// After a write that failed.
constexpr Duration kPatience = std::chrono::seconds(10);

}  // namespace

RecordStore::RecordStore(Runtime& runtime,
                         std::string state_dir,
                         std::function<std::int64_t()> wall_ms)
    : runtime_(runtime), state_dir_(std::move(state_dir)), wall_ms_(std::move(wall_ms)) {}

KeptRecords RecordStore::load() {
  const auto text = read_state(state_dir_, kName);
  auto records = text ? parse_records(*text, state_path(state_dir_, kName), now())
                      : Parsed<KeptRecords>(tl::unexpected<Faults>(text.error()));
  if (records) return std::move(*records);
  log::error("records.damaged",
             "why=\"{}\" put_aside={}.damaged; clients are asked to register again",
             print_fault(records.error().front()),
             state_path(state_dir_, kName));
  set_aside(state_dir_, kName);
  return {};
}

void RecordStore::note_change() {
  if (std::exchange(changed_, true) || writing_) return;
  timer_ = Timer(runtime_, runtime_.now() + kDelay, [this] { write(); });
}

void RecordStore::write() {
  if (!collect_) return;
  changed_ = false;
  writing_ = true;
  auto done = std::make_shared<std::promise<void>>();
  written_ = done->get_future();
  work_.offload(
      runtime_,
      [dir = state_dir_, text = print_records(collect_(), now()), done] {
        auto result = write_state(dir, kName, text);
        done->set_value();
        return result;
      },
      [this](const Result<void>& written) { finish(written); });
}

void RecordStore::finish(const Result<void>& written) {
  writing_ = false;
  if (!written && !std::exchange(failed_, true)) {
    log::error("records.save",
               "why=\"{}\"; what clients leave with us does not survive a restart",
               written.error().context);
  }
  if (written) failed_ = false;
  if (!written) changed_ = true;
  if (changed_)
    timer_ = Timer(runtime_, runtime_.now() + (written ? kDelay : kPatience), [this] { write(); });
}

void RecordStore::flush() {
  if (!collect_ || !(changed_ || writing_)) return;
  timer_.reset();
  if (writing_) written_.wait();  // two writers would share a file
  changed_ = false;
  const auto written = write_state(state_dir_, kName, print_records(collect_(), now()));
  if (!written) log::error("records.save", "why=\"{}\"", written.error().context);
}

}  // namespace smd::app
