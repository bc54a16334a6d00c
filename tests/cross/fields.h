// What infiniband-diags print of a record or a register, made ready to be compared.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace smd::test {

/// The lines, without dots and blanks, "mtu=0x84", but for those of the `ignored` names.
[[nodiscard]] std::vector<std::string> fields_of(const std::string& text,
                                                 const std::set<std::string>& ignored);

/// The first fields that differ, as "ours, theirs; …"; empty when none does.
[[nodiscard]] std::string differences(std::vector<std::string> ours,
                                      std::vector<std::string> theirs);

}  // namespace smd::test
