// Random fabrics for property tests, as text, so that a counterexample pastes into a test.
#pragma once

#include <rapidcheck.h>

#include <string>

namespace smd::test {

/// Up to 12 switches and 10 hosts: parallel links, loop-back cables, open ports, islands, switches
/// without hosts, adapters with two ports, hosts without a cable.
inline rc::Gen<std::string> random_fabric_text() {
  // Full size from the first case on: small fabrics come by themselves.
  return rc::gen::resize(
      rc::kNominalSize, rc::gen::exec([] {
        const int switches = *rc::gen::inRange(1, 13);
        const int links = *rc::gen::inRange(0, 2 * switches + 2);
        const int hosts = *rc::gen::inRange(0, 11);
        const auto any_switch = [&] {
          return "S" + std::to_string(*rc::gen::inRange(1, switches + 1));
        };
        std::string text;
        for (int s = 1; s <= switches; ++s) text += "S" + std::to_string(s) + "/2 ";
        for (int l = 0; l < links; ++l) text += any_switch() + "-" + any_switch() + " ";
        for (int h = 1; h <= hosts; ++h) {
          const std::string name = "H" + std::to_string(h);
          const int ports = *rc::gen::weightedElement<int>({{1, 0}, {6, 1}, {2, 2}});
          text += name + "/2 ";
          for (int p = 0; p < ports; ++p) text += any_switch() + "-" + name + " ";
        }
        const int loops = *rc::gen::weightedElement<int>({{5, 0}, {1, 1}});
        for (int l = 0; l < loops; ++l) text += any_switch() + ":30-" + "S1:31 ";
        return text;
      }));
}

}  // namespace smd::test
