// 000-regular: a torus, one with express channels, CPLANT; under up*/down* with and without stops.
#include <fmt/core.h>

#include "sim-backend/experiments/tables.h"
#include "sim-backend/experiments/wormhole/worm_loads.h"
#include "sim-backend/lab/parallel.h"

namespace smd::sim {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "H11-values",
     .text = "the torus accepts 0.015 flits per ns and switch under UD, 0.029 under UD_ITB",
     .source = "Flich 2001, section 5.3.1",
     .measured = "{farthest:.3f} times",
     .expected = "0.85 to 1.15 times the published"},
    {.id = "H11-ratio",
     .text = "UD_ITB carries 1.93 times what UD does on the torus",
     .source = "Flich 2001, section 5.3.1",
     .measured = "{least:.3f}",
     .expected = "1.68 to 2.18"},
    {.id = "H12-values",
     .text = "with express channels 0.066 and 0.12",
     .source = "Flich 2001, section 5.3.1",
     .measured = "{farthest:.3f} times",
     .expected = "0.85 to 1.15 times the published"},
    {.id = "H12-ratio",
     .text = "UD_ITB carries 1.71 times what UD does there",
     .source = "Flich 2001, section 5.3.1",
     .measured = "{least:.3f}",
     .expected = "1.46 to 1.96"},
    {.id = "H13-values",
     .text = "CPLANT accepts 0.05 and 0.085",
     .source = "Flich 2001, section 5.3.1",
     .measured = "{farthest:.3f} times",
     .expected = "0.85 to 1.15 times the published"},
    {.id = "H13-ratio",
     .text = "UD_ITB carries 1.7 times what UD does there",
     .source = "Flich 2001, section 5.3.1",
     .measured = "{least:.3f}",
     .expected = "1.45 to 1.95"},
};

Result<Findings> run(const ExperimentOptions& options) {
  struct Net {
    const char *name, *fabric;
    double ud, itb;  // published
  };

  const std::vector<Net> nets{{"torus", "torus:dims=8.8,hosts=8", 0.015, 0.029},
                              {"express", "express-torus:dims=8.8,hosts=8", 0.066, 0.12},
                              {"CPLANT", "cplant:", 0.05, 0.085}};
  const MessageCount length = options.quick ? MessageCount{.warm_up = 5000, .measured = 5000}
                                            : MessageCount{.warm_up = 50'000, .measured = 100'000};
  const auto results = collect<double>(options.jobs, 2 * nets.size(), [&](std::size_t i) {
    return find_most_accepted(
        {.fabric = nets[i / 2].fabric, .system = i % 2 == 0 ? "UD" : "UD_ITB"}, length);
  });
  if (!results) return tl::unexpected<Error>(results.error());
  Findings out{.plot = {.title = "Regular networks",
                        .x_label = "0: torus, 1: express channels, 2: CPLANT",
                        .y_label = "most accepted, flits per ns and switch"}};
  std::vector<Range> values(nets.size()), ratios(nets.size());
  for (std::size_t i = 0; i < nets.size(); ++i) {
    const double ud = (*results)[2 * i], itb = (*results)[2 * i + 1];
    values[i].add(ud / nets[i].ud);
    values[i].add(itb / nets[i].itb);
    ratios[i].add(itb / ud);
    for (const auto& [system, value, published] :
         {std::tuple{"UD", ud, nets[i].ud}, {"UD_ITB", itb, nets[i].itb}}) {
      out.add_row({{"network", nets[i].name},
                   {"system", system},
                   {"most_accepted", value},
                   {"published", published}});
      out.plot.add_point(system, static_cast<double>(i), value);
    }
  }
  out.verdicts = decide(kClaims,
                        {{"H11-values", values[0]},
                         {"H11-ratio", ratios[0]},
                         {"H12-values", values[1]},
                         {"H12-ratio", ratios[1]},
                         {"H13-values", values[2]},
                         {"H13-ratio", ratios[2]}});
  return out;
}

}  // namespace

std::vector<Experiment> regular_network_tables() {
  return {{.name = "000-regular",
           .source = "Flich 2001, section 5.3",
           .about = "Torus, torus with express channels and CPLANT under UD and UD_ITB",
           .claims = kClaims,
           .run = run}};
}

}  // namespace smd::sim
