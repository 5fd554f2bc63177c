// What can be multiplied is found out before anything is written; the resume key is what a journal keeps of it.
#include "penstock/gemm/file_inputs.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "penstock/base/base.hpp"

namespace penstock::gemm {

namespace fs = std::filesystem;

FileInputs::FileInputs(const FileProduct& product) {
  a = FileMatrix(product.a, product.op_a);
  b = FileMatrix(product.b, product.op_b);
  c_header = {.type = a.type(), .shape = {a.rows(), b.columns()}};
  for (const std::string& input : {product.a, product.b}) {
    std::error_code ignored;
    if (fs::equivalent(input, product.c, ignored)) {
      throw Error(fmt::format("'{}' is read and written: name another file for C", product.c));
    }
  }
  if (product.scalars.beta != std::complex<double>(0)) {
    c_before.emplace(product.c, Op::none);
    c_header.is_fortran_order = c_before->header().is_fortran_order;
  }
  check_shapes(product);
  if (c_header.is_fortran_order) {
    is_turned = true;
    a.turn();
    b.turn();
    c_before->turn();
    std::swap(a, b);
  }
}

void FileInputs::check_shapes(const FileProduct& product) const {
  if (a.columns() != b.rows()) {
    throw Error(
        fmt::format("op(A) of '{}' is {} x {} and op(B) of '{}' {} x {}: A's columns must be as many as B's rows",
                    product.a, a.rows(), a.columns(), product.b, b.rows(), b.columns()));
  }
  if (a.type() != b.type() || (c_before && c_before->type() != a.type())) {
    throw Error(fmt::format("'{}' holds {}, '{}' {}{}: all must hold the same", product.a, npy::name(a.type()),
                            product.b, npy::name(b.type()),
                            c_before ? fmt::format(", '{}' {}", product.c, npy::name(c_before->type())) : ""));
  }
  if (c_before && (c_before->rows() != a.rows() || c_before->columns() != b.columns())) {
    throw Error(fmt::format("'{}' is {} x {}, and the product {} x {}: they must be alike, as beta is not 0", product.c,
                            c_before->rows(), c_before->columns(), a.rows(), b.columns()));
  }
  const auto& scalars = product.scalars;
  if (!npy::is_complex(a.type()) && (scalars.alpha.imag() != 0 || scalars.beta.imag() != 0)) {
    throw Error(fmt::format("alpha and beta must be real, as the matrices are {}", npy::name(a.type())));
  }
}

journal::ResumeKey FileInputs::resume_key(const FileProduct& product, bool verifies_input) const {
  const auto& scalars = product.scalars;
  journal::ResumeKey resume_key = {
      {"product",
       fmt::format("{} {} x {} x {}, op {} {}, alpha {:a} {:a}, beta {:a} {:a}", npy::name(a.type()), c_header.shape[0],
                   c_header.shape[1], a.columns(), static_cast<int>(product.op_a), static_cast<int>(product.op_b),
                   scalars.alpha.real(), scalars.alpha.imag(), scalars.beta.real(), scalars.beta.imag())}};
  journal::add_input(resume_key, "a", product.a, (is_turned ? b : a).file(), verifies_input);
  journal::add_input(resume_key, "b", product.b, (is_turned ? a : b).file(), verifies_input);
  if (c_before) {
    journal::add_input(resume_key, "c", product.c, c_before->file(), verifies_input, true);
  }
  return resume_key;
}

model::Product FileInputs::product() const {
  return {.m = a.rows(), .n = b.columns(), .k = a.columns(), .element_bytes = npy::element_bytes(a.type())};
}

}  // namespace penstock::gemm
