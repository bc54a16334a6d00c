// How the table of options reaches a field of a section.
#pragma once

#include <utility>

#include "smd/app/config_kinds.h"

namespace smd::config_kinds {

template <class T>
concept IsStrongId = requires { typename T::rep; };

/// Any field that is a number inside: integers, enums, strong ids.
template <class Section, class T>
Field<Number> numeric(Section Config::*section, T Section::*field) {
  return {.read = [=](const Config& config) -> Number {
            if constexpr (IsStrongId<T>) {
              return (config.*section.*field).value();
            } else {
              return static_cast<Number>(config.*section.*field);
            }
          },
          .write =
              [=](Config& config, Number number) {
                if constexpr (IsStrongId<T>) {
                  config.*section.*field = T{static_cast<typename T::rep>(number)};
                } else {
                  config.*section.*field = static_cast<T>(number);
                }
              }};
}

template <class Section, class T>
Field<T> plain(Section Config::*section, T Section::*field) {
  return {[=](const Config& config) { return config.*section.*field; },
          [=](Config& config, T value) { config.*section.*field = std::move(value); }};
}

}  // namespace smd::config_kinds
