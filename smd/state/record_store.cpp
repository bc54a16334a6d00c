// The log of changes, and the files that follow it.
#include "smd/state/record_store.h"

#include <algorithm>
#include <utility>

#include "smd/base/log.h"
#include "smd/state/state_directory.h"

namespace smd {

namespace {

constexpr const char* kName = "records";

/// After a write that failed.
constexpr Duration kPatience = std::chrono::seconds(10);

/// The text that a file and its journal make together. `damage`, in the end: why not all of the
/// journal is in it.
Parsed<std::string> merge(StateJournal::Content content, std::string& damage) {
  damage = std::move(content.damage);
  if (content.changes.empty()) return std::move(content.text);
  auto lines = RecordLines::read(
      std::string_view(content.text).substr(content.text.starts_with('\n') ? 1 : 0));
  if (!lines) return std::move(content.text);  // whoever parses it says where
  const auto all = static_cast<std::size_t>(std::ranges::count(content.changes, '\n'));
  const std::size_t done = lines->apply(content.changes);
  if (done < all) damage = fmt::format("line {} of it is no change", done + 2);
  return lines->print();
}

/// Both as one, and the journal empty.
Result<void> compact(StateJournal& journal) {
  auto content = journal.read();
  std::string damage;
  auto text = content ? merge(std::move(*content), damage)
                      : Parsed<std::string>(tl::unexpected<Faults>(content.error()));
  if (text && damage.empty())
    return journal.replace(std::string_view(*text).substr(text->starts_with('\n') ? 1 : 0));
  return fail(Errc::Io,
              "what was written cannot be read back: " +
                  (text ? damage : print_fault(text.error().front())));
}

}  // namespace

void RecordLog::append(std::string changes) {
  if (changes.empty()) return;
  bytes_ += changes.size();
  entries_.push_back(std::move(changes));
  for (; bytes_ > kMostBytes; ++first_) {
    bytes_ -= entries_.front().size();
    entries_.pop_front();
  }
}

void RecordLog::restart() {
  first_ = end() + 1;
  entries_.clear();
  bytes_ = 0;
}

std::optional<std::string> RecordLog::since(std::uint64_t position) const {
  if (position < first_ || position > end()) return std::nullopt;
  std::string changes;
  for (std::uint64_t at = position; at < end(); ++at) changes += entries_[at - first_];
  return changes;
}

Parsed<std::string> read_records(const std::string& state_dir) {
  RealDisk disk(state_dir);
  const std::string where = state_path(state_dir, kName);
  auto content = StateJournal(disk, kName, where).read();
  if (!content) return tl::unexpected<Faults>(content.error());
  std::string damage;
  auto text = merge(std::move(*content), damage);
  if (!damage.empty()) {
    log::error("records.journal_damaged",
               "file={}.journal why=\"{}\"; what came after it is lost",
               where,
               damage);
  }
  return text;
}

Result<void> replace_records(const std::string& state_dir, const std::string& text) {
  RealDisk disk(state_dir);
  return StateJournal(disk, kName, state_path(state_dir, kName)).replace(text);
}

struct RecordStore::Files {
  explicit Files(const std::string& state_dir)
      : disk(state_dir), journal(disk, kName, state_path(state_dir, kName)) {}

  RealDisk disk;
  StateJournal journal;
};

RecordStore::RecordStore(Runtime& runtime,
                         std::string state_dir,
                         std::function<std::int64_t()> wall_ms)
    : runtime_(runtime),
      state_dir_(std::move(state_dir)),
      wall_ms_(std::move(wall_ms)),
      files_(std::make_shared<Files>(state_dir_)) {}

ClientRecords RecordStore::load() {
  const auto text = read_records(state_dir_);
  auto records = text ? parse_records(*text, state_path(state_dir_, kName), now())
                      : Parsed<ClientRecords>(tl::unexpected<Faults>(text.error()));
  if (records) return std::move(*records);
  log::error("records.damaged",
             "why=\"{}\" put_aside={}.damaged; clients are asked to register again",
             print_fault(records.error().front()),
             state_path(state_dir_, kName));
  set_aside(state_dir_, kName);
  return {};
}

void RecordStore::set_source(RecordSource source) {
  source_ = std::move(source);
  position_.reset();
  writing_to_.reset();
}

void RecordStore::note_change() {
  if (std::exchange(changed_, true) || writing_) return;
  timer_ = Timer(runtime_, runtime_.now() + kDelay, [this] { write(); });
}

std::function<Result<void>()> RecordStore::next_write() {
  changed_ = false;
  writing_to_.reset();
  if (source_.position) writing_to_ = source_.position();
  const auto changes = position_ && source_.since ? source_.since(*position_) : std::nullopt;
  if (changes && changes->empty()) return {};
  // Until it is known how this ends, the journal may have a part of it.
  position_.reset();
  if (changes) {
    ++appends_;
    return [files = files_, changes = *changes]() -> Result<void> {
      if (auto written = files->journal.append(changes); !written) return written;
      return files->journal.is_long() ? compact(files->journal) : Result<void>{};
    };
  }
  ++wholes_;
  return [files = files_, records = source_.collect(), now = now()] {
    return files->journal.replace(print_records(records, now));
  };
}

void RecordStore::write() {
  if (!source_.collect) return;
  auto work = next_write();
  if (!work) return;
  writing_ = true;
  auto done = std::make_shared<std::promise<void>>();
  written_ = done->get_future();
  work_.offload(
      runtime_,
      [work = std::move(work), done] {
        auto result = work();
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
  if (written) {
    failed_ = false;
    position_ = writing_to_;
  } else {
    changed_ = true;
  }
  if (changed_)
    timer_ = Timer(runtime_, runtime_.now() + (written ? kDelay : kPatience), [this] { write(); });
}

void RecordStore::flush() {
  if (!source_.collect || !(changed_ || writing_)) return;
  timer_.reset();
  // Two writers would share a file, and how the first ended is not known: all is written.
  if (writing_) written_.wait();
  if (auto work = next_write()) {
    if (const auto written = work(); !written)
      log::error("records.save", "why=\"{}\"", written.error().context);
  }
}

}  // namespace smd
