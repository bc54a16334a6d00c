// What tools print of three switches in a ring whose routes all go one way round.
#pragma once

#include <string>

namespace smd::test::one_way_ring {

/// Three switches in a ring, a host on each; switch i is 0x10 + i, its host's port 0x20 + i. Port 1
/// leads to the right, 2 to the left, 3 to the host. With `lids`, host i has LID 1 + i, switch i
/// has 4 + i.
[[nodiscard]] inline std::string ring(bool lids) {
  std::string text;
  for (int i = 0; i < 3; ++i) {
    const auto lid = [&](int base) { return std::to_string(lids ? base + i : 0); };
    const std::string n = std::to_string(i), right = std::to_string((i + 1) % 3);
    text += "switchguid=0x1" + n + "\nSwitch 3 \"S" + n + "\" # \"sw-" + n +
            "\" enhanced port 0 lid " + lid(4) + " lmc 0\n[1] \"S" + right + "\"[2]\n[3] \"H" + n +
            "\"[1]\ncaguid=0x3" + n + "\nCa 1 \"H" + n + "\" # \"host-" + n + "\"\n[1](2" + n +
            ") \"S" + n + "\"[3] # lid " + lid(1) + " lmc 0 \"sw-" + n + "\" lid " + lid(4) +
            " 4xEDR\n";
  }
  return text;
}

/// Everybody goes to the right, which never ends waiting.
[[nodiscard]] inline std::string tables(bool owners, int without = -1) {
  std::string text;
  for (int sw = 0; sw < 3; ++sw) {
    if (sw == without) continue;
    text += "Unicast lids [0x0-0x6] of switch DR path guid 0x1" + std::to_string(sw) + " (s):\n";
    for (int lid = 1; lid <= 6; ++lid) {
      const bool host = lid <= 3;
      const int at = (lid - 1) % 3;
      const int port = at != sw ? 1 : host ? 3 : 0;
      text += "0x000" + std::to_string(lid) + " 00" + std::to_string(port);
      if (owners) {
        text += std::string(" : (") + (host ? "Channel Adapter" : "Switch") + " portguid 0x" +
                (host ? "2" : "1") + std::to_string(at) + ": 'x')";
      }
      text += "\n";
    }
    text += "6 valid lids dumped\n";
  }
  return text;
}

/// Every row VL 0 but where a switch sends on what came from the left.
[[nodiscard]] inline std::string lanes(int first_vl,
                                       int changed_vl,
                                       int changed_at,
                                       int without_rows_of = -1) {
  std::string text;
  for (int sw = 0; sw < 3; ++sw) {
    text += "Switch 0x1" + std::to_string(sw) + ", base LID 4, \"s\"\n";
    for (int out = 1; out <= 3; ++out) {
      if (sw == without_rows_of && out == 2) continue;
      for (int in = 0; in <= 3; ++in) {
        const bool here = sw == changed_at && in == 2 && out == 1;
        text += std::to_string(in) + " " + std::to_string(out) + " :";
        for (int sl = 0; sl < 16; ++sl) text += " " + std::to_string(here ? changed_vl : first_vl);
        text += "\n";
      }
    }
  }
  return text;
}

/// Every pair of LIDs, SL 1 where the path goes on at switch 0 to the right.
[[nodiscard]] inline std::string paths(int hosts_only_sl = 1, int switches_only_sl = 1) {
  std::string text;
  for (int from = 1; from <= 6; ++from) {
    for (int to = 1; to <= 6; ++to) {
      const bool crosses = (from - 1) % 3 == 2 && (to - 1) % 3 == 1;
      const int sl = !crosses ? 0 : from <= 3 ? hosts_only_sl : switches_only_sl;
      text += "PathRecord dump:\n\t\tservice_id..............0x0\n\t\tdlid...................." +
              std::to_string(to) + "\n\t\tslid...................." + std::to_string(from) +
              "\n\t\tsl......................0x" + std::to_string(sl) + "\n";
    }
  }
  return text;
}

/// SL s on VL s, whatever the ports.
[[nodiscard]] inline std::string identity() {
  std::string text = lanes(0, 0, 0);
  std::string row = " :", all = " :";
  for (int sl = 0; sl < 16; ++sl) row += " 0", all += " " + std::to_string(sl % 8);
  for (std::size_t at = 0; (at = text.find(row, at)) != std::string::npos; at += all.size())
    text.replace(at, row.size(), all);
  return text;
}

}  // namespace smd::test::one_way_ring
