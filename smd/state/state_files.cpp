// The files of the state directory, written as what they hold changes.
#include "smd/state/state_files.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <utility>

#include "smd/base/log.h"
#include "smd/state/state_directory.h"

namespace smd {

namespace {

constexpr const char* kRecords = "records";

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

std::string unnamed(std::string_view kind) { return fmt::format("{}.unnamed", kind); }

/// `complete`, in the end: there was no more.
Parsed<std::string> read_records(const std::string& state_dir, bool& complete) {
  RetryDisk disk(state_dir);
  const std::string where = state_path(state_dir, kRecords);
  auto content = StateJournal(disk, kRecords, where).read();
  if (!content) return tl::unexpected<Faults>(content.error());
  complete = content->complete;
  std::string damage;
  auto text = merge(std::move(*content), damage);
  if (!damage.empty()) {
    complete = false;
    log::error("records.journal_damaged",
               "file={}.journal why=\"{}\"; what came after it is lost",
               where,
               damage);
  }
  return text;
}

}  // namespace

Parsed<std::string> read_records(const std::string& state_dir) {
  bool complete = false;
  return read_records(state_dir, complete);
}

Result<void> replace_records(const std::string& state_dir, const std::string& text) {
  RealDisk disk(state_dir);
  return StateJournal(disk, kRecords, state_path(state_dir, kRecords)).replace(text);
}

Result<void> unseal_records(const std::string& state_dir) {
  RealDisk disk(state_dir);
  const std::string where = state_path(state_dir, kRecords);
  if (StateJournal(disk, kRecords, where).unseal()) return {};
  return fail(Errc::Io, fmt::format("{}.complete cannot be removed", where));
}

FindPreviousText find_last_good(const std::string& state_dir) {
  return [disk = std::make_shared<RetryDisk>(state_dir),
          state_dir](const std::string& kind) -> Parsed<std::optional<PreviousText>> {
    auto text = read_state(*disk, kind, state_path(state_dir, kind));
    if (!text) return tl::unexpected<Faults>(text.error());
    if (text->empty()) return std::nullopt;
    return PreviousText{.text = std::move(*text), .at = state_path(state_dir, kind)};
  };
}

std::string unnamed_path(const std::string& state_dir, std::string_view kind) {
  return state_path(state_dir, unnamed(kind));
}

std::vector<std::string_view> find_unnamed(const std::string& state_dir,
                                           const std::vector<NamedFile>& files) {
  std::vector<std::string_view> out;
  std::error_code error;
  for (const std::string_view kind : kNamedFileKinds) {
    if (std::ranges::find(files, kind, &NamedFile::kind) == files.end() &&
        std::filesystem::exists(state_path(state_dir, kind), error))
      out.push_back(kind);
  }
  return out;
}

Result<void> keep_last_good(const std::string& state_dir, const std::vector<NamedFile>& files) {
  Result<void> out;
  for (const std::string_view kind : kNamedFileKinds) {
    const auto file = std::ranges::find(files, kind, &NamedFile::kind);
    if (file == files.end()) {
      rename_state(state_dir, kind, unnamed(kind));
    } else if (file->faults.empty()) {
      std::string text = file->text;
      if (!text.empty() && !text.ends_with('\n')) text += '\n';
      const auto kept = read_state(state_dir, kind);
      if (kept && *kept == "\n" + text) continue;
      auto written = write_state(state_dir, kind, text);
      if (!written) {
        out = std::move(written);
        continue;
      }
      remove_state(state_dir, unnamed(kind));
    }
  }
  return out;
}

struct StateFiles::Journal {
  explicit Journal(const std::string& state_dir)
      : disk(state_dir), records(disk, kRecords, state_path(state_dir, kRecords)) {}

  RealDisk disk;
  StateJournal records;
};

/// Whoever runs it first writes; others wait for that.
struct StateFiles::CopyTask {
  CopyTask(std::string state_dir, const StateKind& kind, std::string text)
      : state_dir_(std::move(state_dir)), kind_(kind), text_(std::move(text)) {}

  const Result<void>& run() {
    std::call_once(begun_, [this] { written_ = save_state_text(state_dir_, kind_, text_); });
    return written_;
  }

 private:
  std::string state_dir_;
  StateKind kind_;
  std::string text_;
  std::once_flag begun_;
  Result<void> written_;
};

StateFiles::StateFiles(Runtime& runtime,
                       StateStore& store,
                       std::string state_dir,
                       std::function<std::int64_t()> wall_ms)
    : runtime_(runtime),
      store_(store),
      state_dir_(std::move(state_dir)),
      wall_ms_(std::move(wall_ms)),
      journal_(std::make_shared<Journal>(state_dir_)) {
  store_.set_is_kept([this] { return find_pending(StateKind::kLids) == nullptr; });
}

StateFiles::~StateFiles() { store_.set_is_kept(nullptr); }

Faults StateFiles::load() {
  auto kept = load_state(state_dir_);
  if (!kept) return std::move(kept.error());
  store_.load(std::move(*kept), load_records());
  return {};
}

/// A file that is damaged is put aside and said so: clients register again with a manager that does
/// not know them.
ClientRecords StateFiles::load_records() {
  const auto text = read_records(state_dir_, loaded_complete_);
  if (!journal_->records.unseal()) loaded_complete_ = false;
  auto records = text ? parse_records(*text, state_path(state_dir_, kRecords), now())
                      : Parsed<ClientRecords>(tl::unexpected<Faults>(text.error()));
  if (records) {
    records->complete = loaded_complete_;
    if (!loaded_complete_ && *records != ClientRecords{.complete = false})
      log::info("records.incomplete",
                "file={}; all clients are asked to register again",
                state_path(state_dir_, kRecords));
    return std::move(*records);
  }
  log::error("records.damaged",
             "why=\"{}\" put_aside={}.damaged; clients are asked to register again",
             print_fault(records.error().front()),
             state_path(state_dir_, kRecords));
  set_aside(state_dir_, kRecords);
  return {};
}

void StateFiles::note_change(const StateKind& kind) {
  if (kind == StateKind::kClientRecords) return note_records();
  const auto aside = {StateKind::kLids,
                      StateKind::kPartitionOrders,
                      StateKind::kDirections,
                      StateKind::kLattice,
                      StateKind::kMKeyLinks};
  if (std::ranges::find(aside, kind) != aside.end()) return save_aside(kind, false);
  save(kind);
}

StateFiles::PendingCopy* StateFiles::find_pending(const StateKind& kind) const {
  const auto at = std::ranges::find_if(
      pending_, [&](const std::shared_ptr<PendingCopy>& each) { return each->kind == kind; });
  return at == pending_.end() ? nullptr : at->get();
}

/// Before it returns.
void StateFiles::save(const StateKind& kind) {
  // Two writers would share a file. How the first ended does not matter any more.
  if (const PendingCopy* copy = find_pending(kind)) copy->task->run();
  std::erase_if(pending_, [&](const auto& each) { return each->kind == kind; });
  note_saved(kind, save_state(state_dir_, store_.get(), kind), false);
}

/// Off the loop, and not where routes are computed. What changes meanwhile is written afterwards.
void StateFiles::save_aside(const StateKind& kind, bool again) {
  if (PendingCopy* copy = find_pending(kind)) {
    copy->changed = true;
    return;
  }
  auto task = std::make_shared<CopyTask>(state_dir_, kind, kind.print(store_.get()));
  auto copy =
      std::make_shared<PendingCopy>(PendingCopy{.kind = kind, .again = again, .task = task});
  pending_.push_back(copy);
  work_.offload_aside(
      runtime_,
      [task] { return task->run(); },
      [this, copy](const Result<void>& written) { finish_aside(copy, written); });
}

void StateFiles::finish_aside(const std::shared_ptr<PendingCopy>& copy,
                              const Result<void>& written) {
  if (std::erase(pending_, copy) == 0) return;  // somebody waited for it
  note_saved(copy->kind, written, copy->again);
  if (copy->changed) {
    save_aside(copy->kind, false);
    find_pending(copy->kind)->waiting = std::move(copy->next);
  }
  for (const std::shared_ptr<Waiter>& each : copy->waiting) {
    each->limit.reset();
    if (each->then) std::exchange(each->then, nullptr)(written);
  }
}

void StateFiles::when_saved(const StateKind& kind, Saved then) {
  PendingCopy* copy = find_pending(kind);
  if (copy == nullptr) {
    const bool failed = std::ranges::find(unsaved_, kind) != unsaved_.end();
    return then(failed ? Result<void>(fail(Errc::Io, "the state directory does not take it"))
                       : Result<void>{});
  }
  const auto waiter = std::make_shared<Waiter>(Waiter{.then = std::move(then), .limit = {}});
  waiter->limit =
      Timer(runtime_, runtime_.now() + kLongestSave, [weak = std::weak_ptr(waiter), kind] {
        const auto late = weak.lock();
        if (!late || !late->then) return;
        const auto seconds = kLongestSave / std::chrono::seconds(1);
        log::warn("state.slow", "kind={} waited_s={}; it is refused", kind.name, seconds);
        std::exchange(late->then, nullptr)(
            fail(Errc::Busy, fmt::format("the disk has not taken it within {} s", seconds)));
      });
  (copy->changed ? copy->next : copy->waiting).push_back(waiter);
}

/// `again`: an earlier write of it had failed, and this one is not of a change.
void StateFiles::note_saved(const StateKind& kind, const Result<void>& saved, bool again) {
  std::erase(unsaved_, kind);
  if (saved) {
    if (again) log::info("state.saved", "kind={}; an earlier write of it had failed", kind.name);
    return;
  }
  if (!again) {
    log::error(
        fmt::format("{}.save", kind.name), "why=\"{}\"; {}", saved.error().context, kind.loss);
  }
  unsaved_.push_back(kind);
  retry_ = Timer(runtime_, runtime_.now() + kPatience, [this] { save_again(); });
}

/// A kind that is put once, or seldom, would else wait for ever for its next change.
void StateFiles::save_again() {
  for (const StateKind& kind : std::vector(unsaved_)) {
    if (find_pending(kind) == nullptr) save_aside(kind, true);
  }
}

void StateFiles::keep_copies(std::vector<NamedFile> files) {
  uncopied_ = std::move(files);
  if (copying_) {
    copies_changed_ = true;  // two writers would share a file
    return;
  }
  note_copied(keep_last_good(state_dir_, uncopied_), false);
}

void StateFiles::note_copied(const Result<void>& copied, bool again) {
  if (copied) {
    if (again) log::info("state.saved", "kind=copies; an earlier write of it had failed");
    uncopied_.clear();
    return retry_copies_.reset();
  }
  if (!again) {
    log::warn("config.copy",
              "why=\"{}\"; a start with a faulty file finds no good one",
              copied.error().context);
  }
  retry_copies_ = Timer(runtime_, runtime_.now() + kPatience, [this] { copy_again(); });
}

void StateFiles::copy_again() {
  copying_ = true;
  work_.offload_aside(
      runtime_,
      [state_dir = state_dir_, files = uncopied_] { return keep_last_good(state_dir, files); },
      [this](const Result<void>& copied) {
        copying_ = false;
        if (std::exchange(copies_changed_, false)) return copy_again();
        note_copied(copied, true);
      });
}

std::string StateFiles::alarm() const {
  std::vector<std::string_view> names;
  for (const StateKind& kind : unsaved_) names.push_back(kind.name);
  if (late_since_ && runtime_.now() - *late_since_ >= kMostRecordsLate)
    names.push_back(StateKind::kClientRecords.name);
  if (!uncopied_.empty()) names.push_back("copies of files that the configuration names");
  if (names.empty()) return "";
  return fmt::format("the state directory does not take {}; tried again every {} s",
                     fmt::join(names, ", "),
                     kPatience / std::chrono::seconds(1));
}

void StateFiles::note_records() {
  if (std::exchange(changed_, true) || writing_) return;
  timer_ = Timer(runtime_, runtime_.now() + kDelay, [this] { write(); });
}

std::function<Result<void>()> StateFiles::next_write() {
  RecordStore& records = store_.records();
  changed_ = false;
  writing_to_ = records.position();
  const auto changes = position_ ? records.since(*position_) : std::nullopt;
  if (changes && changes->empty()) return {};
  // Until it is known how this ends, the journal may have a part of it.
  position_.reset();
  if (changes) {
    ++appends_;
    return [journal = journal_, changes = *changes]() -> Result<void> {
      if (auto written = journal->records.append(changes); !written) return written;
      return journal->records.is_long() ? compact(journal->records) : Result<void>{};
    };
  }
  ++wholes_;
  return [journal = journal_, all = records.collect(), now = now()] {
    return journal->records.replace(print_records(all, now));
  };
}

void StateFiles::write() {
  auto work = next_write();
  if (!work) return;
  writing_ = true;
  if (!late_since_) late_since_ = runtime_.now();
  auto done = std::make_shared<std::promise<void>>();
  written_ = done->get_future();
  // Not where routes are computed: a disk that hangs must not keep a failure from being answered.
  work_.offload_aside(
      runtime_,
      [work = std::move(work), done] {
        auto result = work();
        done->set_value();
        return result;
      },
      [this](const Result<void>& written) { finish(written); });
}

void StateFiles::finish(const Result<void>& written) {
  writing_ = false;
  if (!written && !std::exchange(failed_, true)) {
    log::error(
        "records.save", "why=\"{}\"; {}", written.error().context, StateKind::kClientRecords.loss);
  }
  if (written) {
    failed_ = false;
    late_since_.reset();
    position_ = writing_to_;
  } else {
    changed_ = true;
  }
  if (changed_)
    timer_ = Timer(runtime_, runtime_.now() + (written ? kDelay : kPatience), [this] { write(); });
}

void StateFiles::flush() {
  for (const auto& copy : std::exchange(pending_, {})) {
    const Result<void>& written = copy->task->run();
    note_saved(copy->kind, written, copy->again);
    if (written && copy->changed)
      note_saved(copy->kind, save_state(state_dir_, store_.get(), copy->kind), false);
  }
  for (const StateKind& kind : std::vector(unsaved_))
    note_saved(kind, save_state(state_dir_, store_.get(), kind), true);
  retry_.reset();
  if (!uncopied_.empty() && !copying_) note_copied(keep_last_good(state_dir_, uncopied_), true);
  retry_copies_.reset();
  flush_records();
}

/// And that nothing is missing there, or the next start asks all clients to register again.
void StateFiles::flush_records() {
  timer_.reset();
  // Two writers would share a file, and how the first ended is not known: all is written.
  if (writing_) written_.wait();
  // Who was told in the meantime may be counted as in service, which nobody notes as a change.
  if (position_ || changed_ || writing_ || !loaded_complete_) {
    auto work = next_write();
    const Result<void> written = work ? work() : Result<void>{};
    if (!written) return log::error("records.save", "why=\"{}\"", written.error().context);
  }
  if (store_.records().is_complete()) static_cast<void>(!journal_->records.seal());
}

}  // namespace smd
