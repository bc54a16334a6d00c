// What a site that runs OpenSM has written down (opensm.conf, the options of its command line, the
// start file of its distribution) as configurations of smd, and one line on every option that is
// not OpenSM's default: nothing is left out in silence. One table has all options of OpenSM and
// what becomes of each; NVIDIA's own are known by name.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smd/base/result.h"
#include "smd/config/config.h"
#include "smd/ib/types.h"

namespace smd {

/// Where builds of OpenSM look for their files: Debian's, Red Hat's, older ones.
inline constexpr std::string_view kOpensmFolders[] = {"/etc/opensm", "/etc/rdma", "/etc/ofed"};

/// As strtol with base 0: 0x10, 020 and 16; blanks around it count for nothing.
[[nodiscard]] std::optional<std::uint64_t> read_opensm_number(std::string_view text);

// A table of virtual lanes as a list of TOML, for ports of so many VLs. Nothing for what OpenSM
// reads as nonsense.

[[nodiscard]] std::optional<std::string> convert_opensm_sl2vl(std::string_view text, unsigned vls);

[[nodiscard]] std::optional<std::string> convert_opensm_arbitration(std::string_view text,
                                                                    unsigned vls);

/// Of a path: what follows the last slash.
[[nodiscard]] std::string_view file_name(std::string_view path);

/// How OpenSM reads a value.
enum class OpensmKind : std::uint8_t {
  Flag,    // TRUE in capitals; every other word is FALSE
  Number,  // as strtol with base 0: 0x10, 010 and 8
  Limit,   // the same, and whatever is below 0 is "not set"
  Key,     // 64 bits, written as a number
  Text,
  Mask,  // of 256 bits, in hexadecimal digits
  BySl,  // "SL VALUE", once for each SL
};

/// What becomes of an option.
enum class OpensmOutcome : std::uint8_t {
  Carried,
  Changed,    // carried with another value
  NotNeeded,  // smd does so by itself, or has no such trouble
  NotCarried,
  Nvidia,    // only NVIDIA's builds have it
  Unknown,   // to OpenSM as well, which reads over it
  Overruled  // by a later line, or by the command line
};

struct OpensmOption {
  std::string_view name;
  std::string_view initial;  // its default, as `opensm -c` writes it
  OpensmKind kind = OpensmKind::Text;
  std::uint64_t least = 0;  // of numbers: what OpenSM takes
  std::uint64_t most = 0;
  OpensmOutcome outcome = OpensmOutcome::Carried;
  std::string_view ours;    // the option of smd, where one is named
  std::string_view reason;  // of what is not simply carried
  bool derived = false;     // its value is worked out, from this option and others
};

/// In the order in which `opensm -c` writes them; those that only some versions have at the end.
[[nodiscard]] std::span<const OpensmOption> opensm_options();

/// Null for none.
[[nodiscard]] const OpensmOption* find_opensm_option(std::string_view name);

/// What NVIDIA's own option does, in a few words; nothing where it is none of theirs.
[[nodiscard]] std::optional<std::string_view> find_nvidia_option(std::string_view name);

struct OpensmEngine {
  std::string_view name;
  std::string_view ours;  // "": none is like it
  std::string_view difference = "";
};

/// Of routing_engine, NVIDIA's too.
[[nodiscard]] std::span<const OpensmEngine> opensm_engines();

/// Null for none.
[[nodiscard]] const OpensmEngine* find_opensm_engine(std::string_view name);

/// A word of event_plugin_options as smd's own plugin for OpenSM reads it.
struct OpensmPluginWord {
  std::string text;  // as it stands there
  std::string ours;  // the option of smd; empty: nothing is carried
  std::string toml;  // its value
  std::string why;   // nothing is carried
};

[[nodiscard]] std::vector<OpensmPluginWord> read_plugin_words(std::string_view options);

/// An option of the command line.
struct OpensmFlag {
  std::string_view name;  // without its dashes
  char letter = 0;        // 0 where it has none
  bool takes_value = false;
  std::string_view option;  // that it sets; "" where it is no option
  std::string_view value;   // that it sets where it takes none
  std::string_view reason;  // why nothing is carried, of those that are no option
};

[[nodiscard]] std::span<const OpensmFlag> opensm_flags();

/// An option that somebody set.
struct OpensmSetting {
  std::string name;
  std::optional<std::string> value;  // nothing: "(null)", or no value at all
  std::string where;                 // "opensm.conf:12", or the argument
  int column = 0;                    // of the value
  bool in_hex = false;               // of some flags: digits are hexadecimal with or without 0x
};

/// Every setting in the order in which OpenSM takes them, known or not.
[[nodiscard]] Parsed<std::vector<OpensmSetting>> parse_opensm_conf(std::string_view text,
                                                                   const std::string& file);

/// Words as a shell would split them. `config_file` gets what -F names.
struct OpensmFlags {
  std::vector<OpensmSetting> settings;
  std::vector<std::pair<std::string, std::string>> remarks;  // a flag, and what becomes of it
  std::string config_file;                                   // that -F names
};

[[nodiscard]] Parsed<OpensmFlags> parse_opensm_flags(std::string_view text,
                                                     const std::string& where);

/// The start file of Debian (PORTS) or of Red Hat and SUSE (GUIDS, PRIORITY), or an older one.
struct OpensmStart {
  bool all_ports = false;   // of the machine
  bool none = false;        // OpenSM is not started
  std::vector<Guid> ports;  // else empty: the one that the options name
  std::string ports_where;  // of the variable that says so
  OpensmFlags flags;        // of a variable with options
  std::vector<OpensmSetting> settings;
  std::vector<std::pair<std::string, std::string>> remarks;  // a place, and what becomes of it
};

[[nodiscard]] Parsed<OpensmStart> parse_opensm_start(std::string_view text,
                                                     const std::string& file);

/// A file that options name. Nothing: there is none. A fault: it cannot be read.
using OpensmFileReader = std::function<std::optional<Parsed<std::string>>(const std::string& path)>;

struct OpensmSources {
  std::string file;                 // how its faults are called
  std::optional<std::string> text;  // nothing: there is no such file
  std::string flags;
  std::optional<std::string> start_file;
  std::string start_text;
  std::vector<Guid> local_ports;  // of this machine, where the start file says "all"
  OpensmFileReader read;
};

/// An option in one place has one line.
struct OpensmReportLine {
  std::string where;   // "opensm.conf:12", "--flags", or "OpenSM's default"
  std::string option;  // and its value, as it was written
  OpensmOutcome outcome = OpensmOutcome::Carried;
  std::string text;  // "carried as sm.priority = 7"

  friend bool operator==(const OpensmReportLine&, const OpensmReportLine&) = default;
};

[[nodiscard]] std::string print_report_line(const OpensmReportLine& line);

struct ImportedConfig {
  std::string name;  // of the file: "smd.toml", or after the port where there are several
  std::string text;

  /// Where there are several.
  [[nodiscard]] std::string instance() const { return name.substr(0, name.find('.')); }
};

struct OpensmImport {
  std::vector<ImportedConfig> configs;  // one for each port
  std::vector<OpensmReportLine> report;
};

/// All faults of all sources and of the files that they name, or everything. What is written passes
/// parse_config().
[[nodiscard]] Parsed<OpensmImport> import_opensm(const OpensmSources& sources);

/// A file that OpenSM would read unasked and that the configuration does not name.
struct UnnamedFile {
  std::string path;
  std::string_view option;  // that would name it

  friend bool operator==(const UnnamedFile&, const UnnamedFile&) = default;
};

/// Of partitions and of QoS, which is all that has a default place, as `exists` says. Of each kind
/// the first.
[[nodiscard]] std::vector<UnnamedFile> find_unnamed_files(
    const Config& config, const std::function<bool(const std::string&)>& exists);

/// What the sources say, of each option the setting that counts, and what is said of them. The
/// importer's own, in two files.
class OpensmReading {
 protected:
  static constexpr std::size_t kAtEnd = ~std::size_t{0};

  struct Placed {
    std::size_t place = 0;  // of the setting among all; kAtEnd for what nobody set
    OpensmReportLine line;
  };

  struct InForce {
    const OpensmSetting* setting = nullptr;
    std::size_t place = 0;
  };

  explicit OpensmReading(const OpensmSources& sources) : sources_(sources) {}

  // Reading.

  void read_sources();

  void report_missing_file();

  void append(std::vector<OpensmSetting> settings);

  void append_flags(OpensmFlags flags, const std::string& where);

  /// The last setting of an option counts, of those by SL the last of each SL.
  void settle();

  static std::string key_of(const OpensmSetting& setting);

  void report_stranger(const OpensmSetting& setting, std::size_t place);

  /// "true", "yes" and "1" are FALSE to OpenSM.
  void report_odd_flag(const OpensmOption& row, const OpensmSetting& setting, std::size_t place);

  bool check(const OpensmOption& row, const OpensmSetting& setting);

  static std::optional<std::pair<std::uint64_t, std::uint64_t>> read_by_sl(
      const OpensmSetting& setting, std::uint64_t most);

  // What is in force.

  [[nodiscard]] const InForce* find(std::string_view name) const;

  [[nodiscard]] std::optional<std::string> text_of(std::string_view name) const;

  [[nodiscard]] bool is_true(std::string_view name) const;

  [[nodiscard]] std::uint64_t number_of(std::string_view name) const;

  [[nodiscard]] bool is_initial(std::string_view name) const;

  static std::vector<std::string> split_engines(std::string_view list);

  /// The level of smd, and why it is no set of bits.
  static std::pair<std::string, std::string> read_log_flags(std::uint64_t flags);

  /// As OpenSM: a number, in any base that C has, and whatever stands behind it is a name.
  std::vector<Guid> read_root_file(const std::string& path, std::string_view text);

  // Saying.

  /// The option and its value, as they were written.
  static std::string show_of(const InForce& in_force);

  void report(std::size_t place,
              std::string where,
              std::string option,
              OpensmOutcome outcome,
              std::string text);

  /// On an option as it is in force.
  void say(std::string_view name, OpensmOutcome outcome, std::string text);

  void say_not_carried(std::string_view name, std::string_view because);

  void say_not_needed(std::string_view name, std::string_view because);

  void report_choice_of_key(const PartitionFile& rules);

  /// Without QoS OpenSM gives every path SL 0, whatever the partition's is.
  void report_levels(const PartitionFile& rules, const std::string& path);

  void report_connected_tops(const std::vector<std::string>& engines);

  void add_faults(const Faults& faults);

  void complain(std::string_view name, std::string message);

  const OpensmSources& sources_;
  std::vector<OpensmSetting> settings_;
  OpensmStart start_;
  std::map<std::string, InForce, std::less<>> in_force_;
  std::map<std::string, std::vector<InForce>, std::less<>> by_sl_;
  std::vector<Placed> lines_;
  Faults faults_;
};

}  // namespace smd
