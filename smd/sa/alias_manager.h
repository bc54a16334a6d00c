// Alias GUIDs of ports: who has which, and answers to requests for them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "smd/base/publisher.h"
#include "smd/sa/query.h"
#include "smd/sa/subnet_view.h"

namespace smd::sa {

// Further GUIDs of a port (IBA 14.2.5.5 GUIDInfo, 15.2.5.18): asked for by the port, or given by
// us. No GUID stands for two ports. Pure state.

struct AliasLimits {
  std::size_t all = std::size_t{1} << 16;
  std::size_t of_one_port = 128;  // a port that is shared by 127 virtual ones
};

class AliasTable {
 public:
  /// By port GUID; entry 0 is the port's own and not kept, 0 is none.
  using Map = std::map<Guid, std::vector<Guid>>;

  explicit AliasTable(AliasLimits limits = {}) : limits_(limits) {}

  /// From now on; what is beyond stays.
  void set_limits(const AliasLimits& limits) { limits_ = limits; }

  /// 0 when there is none.
  [[nodiscard]] Guid at(Guid port, std::size_t index) const;

  /// The port that an alias stands for; 0 when it stands for none.
  [[nodiscard]] Guid owner_of(Guid alias) const;

  using Check = std::function<bool(Guid)>;

  /// `wanted` 0: the one that is there, or a new one. What the entry is afterwards; 0 when the GUID
  /// belongs to somebody else or is reserved, or there is no room. `reserved` holds for GUIDs that
  /// are nobody's now and yet not given away; null: for none. Requires: index > 0.
  Guid put(const SubnetView& view,
           Guid port,
           std::size_t index,
           Guid wanted,
           const Check& reserved = nullptr);

  /// Of entries `wanted` of the port, by index, all that are new and could be given can be kept
  /// together.
  [[nodiscard]] bool has_room(const SubnetView& view,
                              Guid port,
                              const std::map<std::size_t, Guid>& wanted,
                              const Check& reserved = nullptr) const;

  /// False when there was none.
  bool erase(Guid port, std::size_t index);

  /// Ports whose further GUIDs are not what they were; see ChangedKeys.
  [[nodiscard]] std::optional<std::set<Guid>> take_changed() { return changed_.take(); }

  [[nodiscard]] const Map& all() const { return ports_; }

  [[nodiscard]] const std::map<Guid, Guid>& owners() const { return owners_; }

  /// In place of what is there, as far as limits allow; a GUID that comes twice counts once.
  void restore(const Map& map);

 private:
  void take_away(Guid guid);
  [[nodiscard]] bool is_free(const SubnetView& view, Guid guid, const Check& reserved) const;
  [[nodiscard]] Guid invent(const SubnetView& view);
  void write(Guid port, std::size_t index, Guid guid);

  [[nodiscard]] std::size_t room_of(Guid port) const;

  AliasLimits limits_;
  Map ports_;
  std::map<Guid, Guid> owners_;
  std::uint64_t invented_ = 0;
  ChangedKeys<Guid> changed_;
};

// GUIDInfoRecord: a port asks for further GUIDs, or gives them back. Get shows what was given,
// whether or not the view knows it yet.

class AliasManager final : public RecordManager {
 public:
  /// `on_change`: the table is not what it was; soon the view is to be made anew and the port to be
  /// told.
  explicit AliasManager(std::function<void()> on_change, AliasTable table = AliasTable{})
      : on_change_(std::move(on_change)), table_(std::move(table)) {}

  /// A port that the client does not sit on is refused, unless it is trusted; so is a request for
  /// which there is no room, as a whole.
  [[nodiscard]] std::optional<Answer> answer(const SubnetView& view, const Query& query) override;

  void set_limits(const AliasLimits& limits) { table_.set_limits(limits); }

  /// Only the trusted get these.
  void set_reserved(AliasTable::Check reserved) { reserved_ = std::move(reserved); }

  void restore(const AliasTable::Map& map) { table_.restore(map); }

  [[nodiscard]] AliasTable& table() { return table_; }

  [[nodiscard]] const AliasTable& table() const { return table_; }

 private:
  [[nodiscard]] Answer change(const SubnetView& view, const Query& query);

  std::function<void()> on_change_;
  AliasTable table_;
  AliasTable::Check reserved_;
};

}  // namespace smd::sa
