// Writes kernels. `$NAME` in a text stands for a value.
#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/transform/device/device_program.hpp"
#include "penstock/transform/numbers.hpp"

namespace penstock::transform {
namespace {

using Values = std::map<std::string, std::string, std::less<>>;

/// The text with its names replaced, those that there are values for.
std::string fill(std::string_view text, const Values& values) {
  std::string filled;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '$') {
      filled += text[i++];
      continue;
    }
    std::size_t end = i + 1;
    while (end < text.size() && (std::isupper(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) {
      ++end;
    }
    const auto value = values.find(text.substr(i + 1, end - i - 1));
    filled += value == values.end() ? text.substr(i, end - i) : std::string_view(value->second);
    i = end;
  }
  return filled;
}

constexpr std::string_view head = R"(
typedef $REAL real;
typedef $REAL2 pair;
#ifdef __OPENCL_VERSION__
#define PAIR(X, Y) ((pair)((X), (Y)))
#else
#define PAIR(X, Y) make_$REAL2((X), (Y))
#endif
FUNCTION pair sum(pair a, pair b) { return PAIR(a.x + b.x, a.y + b.y); }
FUNCTION pair difference(pair a, pair b) { return PAIR(a.x - b.x, a.y - b.y); }
FUNCTION pair product(pair a, pair b) { return PAIR(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
FUNCTION pair swapped(pair a, i64 is_swapped) { return is_swapped ? PAIR(a.y, a.x) : a; }
FUNCTION int padded(int i) { return $PADDED; }
)";

/// The head of the kernel. A backward transform is a forward one of points whose parts are swapped, before and after.
constexpr std::string_view kernel_head = R"(
KERNEL($ITEMS) $NAME(LOCATION(source_end), LOCATION(destination_end), LOCATION(constants), LOCATION(source_table),
    LOCATION(destination_table), i64 pencils, i64 source_first, i64 destination_first, i64 is_backward,
    i64 source_point, i64 source_pencil, i64 source_outer, i64 destination_point, i64 destination_pencil,
    i64 destination_outer, real factor) {
  $LOCAL_MEMORY_HERE
  GLOBAL const $SOURCE_NUMBER* source = AT(const $SOURCE_NUMBER, source_end);
  GLOBAL $DESTINATION_NUMBER* destination = AT($DESTINATION_NUMBER, destination_end);
  GLOBAL const pair* roots = AT(const pair, constants);
  const i64 tiles = (pencils + ($GROUP_PENCILS - 1)) / $GROUP_PENCILS;
  const i64 outer = GROUP / tiles;
  const i64 first = GROUP % tiles * $GROUP_PENCILS;
  pair v[$VALUES];
)";

/// A number as a constant of the precision.
std::string constant(long double value, std::int64_t real_bytes) {
  return real_bytes == 8 ? fmt::format("{:.17e}", static_cast<double>(value))
                         : fmt::format("{:.9e}f", static_cast<double>(value));
}

/// Writes functions that transform R points in registers, and those that they call.
class Butterflies {
 public:
  explicit Butterflies(std::int64_t real_bytes) : real_bytes_(real_bytes) {}

  void add(int radix) {
    if (radix == 1 || !written_.insert(radix).second) {
      return;
    }
    const auto p = static_cast<int>(smallest_prime_factor(radix));
    text_ += p == radix ? (p == 2 ? two() : prime(p)) : composite(radix % 4 == 0 && radix > 8 ? 4 : p, radix);
  }
  const std::string& text() const noexcept { return text_; }

 private:
  static std::string two() {
    return "FUNCTION void dft2(pair* v) { const pair a = v[0]; v[0] = sum(a, v[1]); v[1] = difference(a, v[1]); }\n";
  }

  std::string prime(int p) const {
    std::string text = fmt::format("FUNCTION void dft{}(pair* v) {{\n", p);
    const int half = (p - 1) / 2;
    std::string all = "v[0]";
    for (int m = 1; m <= half; ++m) {
      text += fmt::format("  const pair t{0} = sum(v[{0}], v[{1}]), u{0} = difference(v[{0}], v[{1}]);\n", m, p - m);
    }
    text += "  const pair x = v[0];\n  v[0] = PAIR(x.x";
    std::string imaginary = "x.y";
    for (int m = 1; m <= half; ++m) {
      text += fmt::format(" + t{}.x", m);
      imaginary += fmt::format(" + t{}.y", m);
    }
    text += ", " + imaginary + ");\n";
    for (int k = 1; k <= half; ++k) {
      std::array<std::string, 4> parts{"x.x", "x.y", "", ""};
      for (int m = 1; m <= half; ++m) {
        const std::complex<long double> w = root(k * m % p, p);  // its imaginary part is minus the sine
        const std::string cosine = constant(w.real(), real_bytes_);
        const std::string sine = constant(-w.imag(), real_bytes_);
        parts[0] += fmt::format(" + {} * t{}.x", cosine, m);
        parts[1] += fmt::format(" + {} * t{}.y", cosine, m);
        parts[2] += fmt::format("{}{} * u{}.x", m == 1 ? "" : " + ", sine, m);
        parts[3] += fmt::format("{}{} * u{}.y", m == 1 ? "" : " + ", sine, m);
      }
      text += fmt::format(
          "  {{\n    const pair c = PAIR({}, {});\n    const pair s = PAIR({}, {});\n"
          "    v[{}] = PAIR(c.x + s.y, c.y - s.x);\n    v[{}] = PAIR(c.x - s.y, c.y + s.x);\n  }}\n",
          parts[0], parts[1], parts[2], parts[3], k, p - k);
    }
    return text + "}\n";
  }

  /// Cooley's and Tukey's: `radix` as a product of `a` and the rest.
  std::string composite(int a, int radix) {
    const int b = radix / a;
    add(a);
    add(b);
    std::string text = fmt::format("FUNCTION void dft{}(pair* v) {{\n  pair u[{}];\n", radix, radix);
    for (int n = 0; n < b; ++n) {
      text += "  {\n    pair w[" + std::to_string(a) + "] = {";
      for (int m = 0; m < a; ++m) {
        text += fmt::format("{}v[{}]", m == 0 ? "" : ", ", m * b + n);
      }
      text += fmt::format("}};\n    dft{}(w);\n", a);
      for (int k = 0; k < a; ++k) {
        text += fmt::format("    u[{}] = {};\n", k * b + n, times_root(fmt::format("w[{}]", k), n * k, radix));
      }
      text += "  }\n";
    }
    for (int k = 0; k < a; ++k) {
      text += fmt::format("  dft{}(u + {});\n", b, k * b);
      for (int m = 0; m < b; ++m) {
        text += fmt::format("  v[{}] = u[{}];\n", k + a * m, k * b + m);
      }
    }
    return text + "}\n";
  }

  /// `value` times exp(-2 pi i k / n).
  std::string times_root(const std::string& value, int k, int n) const {
    const std::complex<long double> w = root(k % n, n);
    if (k % n == 0) {
      return value;
    }
    if (4 * k == n) {
      return fmt::format("PAIR({0}.y, -{0}.x)", value);
    }
    if (8 * k == n) {
      return fmt::format("PAIR({0} * ({1}.x + {1}.y), {0} * ({1}.y - {1}.x))", constant(w.real(), real_bytes_), value);
    }
    if (8 * k == 3 * n) {
      return fmt::format("PAIR({0} * ({1}.y - {1}.x), {0} * (-{1}.x - {1}.y))", constant(-w.real(), real_bytes_),
                         value);
    }
    return fmt::format("product({}, PAIR({}, {}))", value, constant(w.real(), real_bytes_),
                       constant(w.imag(), real_bytes_));
  }

  std::int64_t real_bytes_;
  std::set<int> written_;
  std::string text_;
};

/// Writes the body of a kernel, from the source through passes and exchanges to the destination.
class Writer {
 public:
  explicit Writer(const DeviceProgram& program) : program_(program) {}

  std::string write() {
    const bool is_real_source = program_.shape.kind == Kind::real_to_complex;
    const bool is_real_destination = program_.shape.kind == Kind::complex_to_real;
    if (is_real_destination) {
      combine_spectra();
    } else {
      load_source(is_real_source);
    }
    transform();
    if (program_.is_convolution()) {
      // The product of both transforms, back by a forward transform of swapped parts.
      const Pass last = last_pass();
      loop(last, last_adjacent(),
           "      const int n = j + m * $BUTTERFLIES;\n"
           "      v[i * $RADIX + m] = swapped(product(v[i * $RADIX + m], roots[$POINTS + $LENGTH + n]), 1);\n");
      exchange_to_first();
      transform();
      loop(last, last_adjacent(),
           "      const int n = j + m * $BUTTERFLIES;\n"
           "      if (n < $LENGTH) v[i * $RADIX + m] = product(swapped(v[i * $RADIX + m], 1), roots[$POINTS + n]);\n");
    }
    if (is_real_source) {
      separate_spectra();
    } else {
      store_destination(is_real_destination);
    }
    return text_ + "}\n";
  }

  std::int64_t values() const {
    std::int64_t most = 0;
    for (std::size_t i = 0; i < program_.radices.size(); ++i) {
      const Pass pass = pass_of(i);
      most = std::max(most, iterations(pass.butterflies * program_.pencils) * pass.radix);
    }
    return most;
  }

  Values common() const {
    const DeviceShape& shape = program_.shape;
    const bool is_double = shape.real_bytes == 8;
    return {{"REAL", is_double ? "double" : "float"},
            {"PADDED", program_.padding_shift == 0 ? "i" : fmt::format("i + (i >> {})", program_.padding_shift)},
            {"NAME", kernel_name},
            {"ITEMS", std::to_string(program_.items)},
            {"VALUES", std::to_string(values())},
            {"POINTS", std::to_string(program_.points)},
            {"LENGTH", std::to_string(shape.length)},
            {"PENCILS", std::to_string(program_.pencils)},
            {"GROUP_PENCILS", std::to_string(program_.pencils * (program_.is_real() ? 2 : 1))},
            {"SOURCE_NUMBER", shape.kind == Kind::real_to_complex ? "real" : "pair"},
            {"DESTINATION_NUMBER", shape.kind == Kind::complex_to_real ? "real" : "pair"},
            {"LOCAL_MEMORY_HERE", program_.has_exchanges()
                                      ? fmt::format("LOCAL_MEMORY(real, part, {});",
                                                    (program_.exchanges_parts ? 1 : 2) * program_.part_numbers())
                                      : ""},
            {"PART", std::to_string(program_.part_numbers())}};
  }

 private:
  /// One pass: butterfly j of `butterflies` of a pencil takes points j + m * butterflies, and leaves them `done`
  /// apart, where `done` is the product of the radices before.
  struct Pass {
    std::int64_t radix;
    std::int64_t butterflies;
    std::int64_t done;
  };

  Pass pass_of(std::size_t index) const {
    std::int64_t done = 1;
    for (std::size_t i = 0; i < index; ++i) {
      done *= program_.radices[i];
    }
    const std::int64_t radix = program_.radices[index];
    return {radix, program_.points / radix, done};
  }
  Pass last_pass() const { return pass_of(program_.radices.size() - 1); }
  /// The items' order in the first pass and in the last: so that neighbours at that end are neighbours among items.
  Adjacent first_adjacent() const {
    return program_.shape.kind == Kind::complex_to_real ? Adjacent::pencils : program_.shape.source;
  }
  Adjacent last_adjacent() const { return adjacent_of(program_.radices.size() - 1); }
  Adjacent adjacent_of(std::size_t index) const {
    if (index == 0) {
      return first_adjacent();  // a pass alone has one order
    }
    const bool is_end = index + 1 == program_.radices.size() && program_.shape.kind != Kind::real_to_complex;
    return is_end ? program_.shape.destination : Adjacent::pencils;
  }

  std::int64_t iterations(std::int64_t count) const { return (count + program_.items - 1) / program_.items; }

  void append(std::string_view text, const Values& more) {
    Values values = common();
    for (const auto& [name, value] : more) {
      values.insert_or_assign(name, value);
    }
    text_ += fill(text, values);
  }

  /// `count` things of each pencil, shared out among the items: t is the pencil's number and j the thing's.
  std::string each(std::int64_t count, Adjacent adjacent, const std::string& body) const {
    const std::int64_t all = count * program_.pencils;
    const std::int64_t turns = iterations(all);
    std::string text = fmt::format("  #pragma unroll\n  for (int i = 0; i < {}; ++i) {{\n", turns);
    text += fmt::format("    const int item = ITEM + i * {};\n", program_.items);
    text += turns * program_.items == all ? "    {\n" : fmt::format("    if (item < {}) {{\n", all);
    text += adjacent == Adjacent::pencils
                ? fmt::format("      const int t = item % {0}, j = item / {0};\n", program_.pencils)
                : fmt::format("      const int t = item / {0}, j = item % {0};\n", count);
    return text + body + "    }\n  }\n";
  }

  /// `body` for each value of a pass: i, t and j as above, and m.
  std::string each_value(const Pass& pass, Adjacent adjacent, const std::string& body) const {
    return each(
        pass.butterflies, adjacent,
        fmt::format("      #pragma unroll\n      for (int m = 0; m < {}; ++m) {{\n  {}      }}\n", pass.radix, body));
  }
  Values values_of(const Pass& pass) const {
    return {{"RADIX", std::to_string(pass.radix)},
            {"BUTTERFLIES", std::to_string(pass.butterflies)},
            {"DONE", std::to_string(pass.done)},
            {"STEP", std::to_string(program_.points / (pass.done * pass.radix))}};
  }
  void loop(const Pass& pass, Adjacent adjacent, const std::string& body) {
    append(each_value(pass, adjacent, body), values_of(pass));
  }

  /// Number n of pencil p at an end.
  static std::string number_at(const char* end, bool has_table, const std::string& n, const std::string& p) {
    return has_table
               ? fmt::format(
                     "AT(const i64, {0}_table)[3 * ({1})] + ({2}) * AT(const i64, {0}_table)[3 * ({1}) + 1] "
                     "+ ({0}_first + outer) * AT(const i64, {0}_table)[3 * ({1}) + 2]",
                     end, n, p)
               : fmt::format("({1}) * {0}_point + ({2}) * {0}_pencil + ({0}_first + outer) * {0}_outer", end, n, p);
  }
  std::string at_source(const std::string& n, const std::string& p) const {
    return number_at("source", program_.shape.has_source_table, n, p);
  }
  std::string at_destination(const std::string& n, const std::string& p) const {
    return number_at("destination", program_.shape.has_destination_table, n, p);
  }

  /// What a point of the source becomes before the first pass.
  std::string prepared(const std::string& value) const {
    const std::string forward = fmt::format("swapped({}, is_backward)", value);
    return program_.is_convolution() ? fmt::format("product({}, roots[$POINTS + n])", forward) : forward;
  }

  void load_source(bool is_real) {
    const std::string in_pencil = program_.is_convolution() ? " && n < $LENGTH" : "";
    const std::string value = is_real ? fmt::format("PAIR(source[{}], p + 1 < pencils ? source[{}] : 0)",
                                                    at_source("n", "p"), at_source("n", "p + 1"))
                                      : fmt::format("source[{}]", at_source("n", "p"));
    loop(pass_of(0), first_adjacent(),
         fmt::format("      const int n = j + m * $BUTTERFLIES;\n"
                     "        const i64 p = first + {} * t;\n"
                     "        v[i * $RADIX + m] = PAIR(0, 0);\n"
                     "        if (p < pencils{}) v[i * $RADIX + m] = {};\n",
                     is_real ? 2 : 1, in_pencil, prepared(value)));
  }

  void store_destination(bool is_real) {
    const std::string in_pencil = program_.is_convolution() ? "n < $LENGTH && " : "";
    std::string body = fmt::format(
        "      const int n = j + m * $BUTTERFLIES;\n"
        "        const i64 p = first + {} * t;\n"
        "        const pair value = swapped(v[i * $RADIX + m], is_backward);\n",
        is_real ? 2 : 1);
    if (is_real) {
      body += fmt::format("        if ({}p < pencils) destination[{}] = factor * value.x;\n", in_pencil,
                          at_destination("n", "p"));
      body += fmt::format("        if ({}p + 1 < pencils) destination[{}] = factor * value.y;\n", in_pencil,
                          at_destination("n", "p + 1"));
    } else {
      body += fmt::format("        if ({}p < pencils) destination[{}] = PAIR(factor * value.x, factor * value.y);\n",
                          in_pencil, at_destination("n", "p"));
    }
    loop(last_pass(), last_adjacent(), body);
  }

  /// All passes; the first one's values are there, and the last one's are left.
  void transform() {
    for (std::size_t index = 0; index < program_.radices.size(); ++index) {
      const Pass pass = pass_of(index);
      const Adjacent adjacent = adjacent_of(index);
      std::string body;
      if (pass.done > 1) {
        body +=
            "      const int k = j % $DONE;\n"
            "      #pragma unroll\n"
            "      for (int m = 1; m < $RADIX; ++m) v[i * $RADIX + m] = product(v[i * $RADIX + m], roots[k * m * "
            "$STEP]);\n";
      }
      if (pass.radix > 1) {
        body += "      dft$RADIX(v + i * $RADIX);\n";
      }
      if (!body.empty()) {
        append(each(pass.butterflies, adjacent, body), values_of(pass));
      }
      if (index + 1 < program_.radices.size()) {
        exchange(stored_values(pass, adjacent), loaded_values(pass_of(index + 1), adjacent_of(index + 1)));
      }
    }
  }

  /// Of the exchanges' texts, $P is a part, x or y, and $AT the number at which its local memory begins.
  std::string stored_values(const Pass& pass, Adjacent adjacent) const {
    return filled(each_value(pass, adjacent,
                             "      const int n = j / $DONE * ($DONE * $RADIX) + j % $DONE + m * $DONE;\n"
                             "        part[$AT + padded(n * $PENCILS + t)] = v[i * $RADIX + m].$P;\n"),
                  pass);
  }
  std::string loaded_values(const Pass& pass, Adjacent adjacent) const {
    return filled(
        each_value(pass, adjacent,
                   "      v[i * $RADIX + m].$P = part[$AT + padded((j + m * $BUTTERFLIES) * $PENCILS + t)];\n"),
        pass);
  }
  std::string filled(const std::string& text, const Pass& pass) const {
    Values values = common();
    values.merge(values_of(pass));
    return fill(text, values);
  }

  /// Stores values and loads others, through local memory.
  void exchange(const std::string& stores, const std::string& loads) {
    const Values x{{"P", "x"}, {"AT", "0"}};
    const Values y{{"P", "y"}, {"AT", program_.exchanges_parts ? "0" : std::to_string(program_.part_numbers())}};
    const std::string barrier = "  BARRIER();\n";
    // An exchange before may still be read.
    text_ += has_exchanged_ ? barrier : "";
    has_exchanged_ = true;
    if (program_.exchanges_parts) {
      text_ += fill(stores, x) + barrier + fill(loads, x) + barrier + fill(stores, y) + barrier + fill(loads, y);
    } else {
      text_ += fill(stores, x) + fill(stores, y) + barrier + fill(loads, x) + fill(loads, y);
    }
  }

  void exchange_to_first() {
    const Pass last = last_pass();
    exchange(stored_values(last, last_adjacent()), loaded_values(pass_of(0), first_adjacent()));
  }

  std::int64_t half() const { return program_.shape.length / 2 + 1; }

  /// Real pencils a and b went together, as a + i b, whose transform is Z: that of a is (Z_k + conj Z_n-k) / 2.
  void separate_spectra() {
    const std::int64_t turns = iterations(half() * program_.pencils);
    text_ += fmt::format("  pair z[{}], w[{}];\n", turns, turns);
    const Pass last = last_pass();
    const Adjacent adjacent = program_.shape.destination;
    const std::string loads =
        each(half(), adjacent,
             filled("      z[i].$P = part[$AT + padded(j * $PENCILS + t)];\n"
                    "      w[i].$P = part[$AT + padded((j == 0 ? 0 : $LENGTH - j) * $PENCILS + t)];\n",
                    last));
    exchange(stored_values(last, last_adjacent()), loads);
    append(each(half(), adjacent,
                fmt::format(
                    "      const i64 p = first + 2 * t;\n"
                    "      const real by = factor / 2;\n"
                    "      if (p < pencils) destination[{}] = PAIR(by * (z[i].x + w[i].x), by * (z[i].y - w[i].y));\n"
                    "      if (p + 1 < pencils) destination[{}] = PAIR(by * (z[i].y + w[i].y), by * (w[i].x - "
                    "z[i].x));\n",
                    at_destination("j", "p"), at_destination("j", "p + 1"))),
           {});
  }

  /// The spectra A and B of two real pencils make that of a + i b: A + i B, and at n - k what follows from both being
  /// real.
  void combine_spectra() {
    const std::int64_t turns = iterations(half() * program_.pencils);
    text_ += fmt::format("  pair z[{}], w[{}];\n", turns, turns);
    const Adjacent adjacent = program_.shape.source;
    append(each(half(), adjacent,
                fmt::format("      const i64 p = first + 2 * t;\n"
                            "      pair a = PAIR(0, 0), b = PAIR(0, 0);\n"
                            "      if (p < pencils) a = source[{}];\n"
                            "      if (p + 1 < pencils) b = source[{}];\n"
                            "      if (j == 0 || 2 * j == $LENGTH) a.y = b.y = 0;\n"
                            "      z[i] = PAIR(a.y + b.x, a.x - b.y);\n"  // swapped, as it goes backward
                            "      w[i] = PAIR(b.x - a.y, a.x + b.y);\n",
                            at_source("j", "p"), at_source("j", "p + 1"))),
           {});
    const Pass pass = pass_of(0);
    const std::string stores =
        each(half(), adjacent,
             filled("      part[$AT + padded(j * $PENCILS + t)] = z[i].$P;\n"
                    "      if (j != 0 && 2 * j != $LENGTH) part[$AT + padded(($LENGTH - j) * $PENCILS + t)] = "
                    "w[i].$P;\n",
                    pass));
    exchange(stores, loaded_values(pass, first_adjacent()));
    if (program_.is_convolution()) {
      loop(pass, first_adjacent(),
           "      const int n = j + m * $BUTTERFLIES;\n"
           "        v[i * $RADIX + m] = n < $LENGTH ? product(v[i * $RADIX + m], roots[$POINTS + n]) : PAIR(0, 0);\n");
    }
  }

  const DeviceProgram& program_;
  std::string text_;
  bool has_exchanged_ = false;
};

}  // namespace

std::string write_source(const DeviceProgram& program) {
  Writer writer(program);
  Butterflies butterflies(program.shape.real_bytes);
  for (const int radix : program.radices) {
    butterflies.add(radix);
  }
  const Values common = writer.common();
  return fill(head, common) + butterflies.text() + fill(kernel_head, common) + writer.write();
}

}  // namespace penstock::transform
