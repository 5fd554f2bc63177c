#include "penstock/gemm/shifts.hpp"

#include <algorithm>
#include <complex>

#include "penstock/base/base.hpp"

namespace penstock::gemm {

template <class T>
Shifts<T>::Shifts(const gas::Team& team, Factor factor, const CannonGrid& grid, Operand<T>& operand,
                  std::span<const int> nodes)
    : team_(team),
      factor_(factor),
      grid_(grid),
      operand_(operand),
      buffer_elements_(
          static_cast<std::size_t>((factor == Factor::a ? grid.row_block() : grid.column_block()) * grid.depth())),
      // Who sends must know who receives: in that order.
      segment_((plan_arrivals(nodes), plan_sends(nodes), make_segment())) {}

template <class T>
Shifts<T>::~Shifts() {
  for (gas::Event& event : under_way_) {
    event.abandon();
  }
  for (Arrival& arrival : arrivals_) {
    for (gas::Event& event : arrival.handed_on) {
      event.abandon();
    }
  }
}

template <class T>
gas::Segment Shifts<T>::make_segment() const {
  const std::size_t bytes = std::min(buffers, arrivals_.size()) * buffer_elements_ * sizeof(T);
  return {team_, bytes, buffers + static_cast<std::size_t>(team_.size())};
}

template <class T>
void Shifts<T>::plan_arrivals(std::span<const int> nodes) {
  number_of_step_.assign(static_cast<std::size_t>(grid_.steps()), -1);
  if (team_.rank() >= grid_.workers()) {
    return;
  }
  std::array<std::uint64_t, buffers> parts_before{};
  for (const Delivery& delivery : deliveries(factor_, grid_, operand_, team_.rank(), nodes)) {
    Arrival arrival{.delivery = delivery, .signal = 0, .senders = {}};
    if (delivery.before) {
      arrival.senders.push_back(*delivery.before);
    } else {
      for (const auto& part : operand_.parts(delivery.rows, delivery.columns)) {
        arrival.senders.push_back(part.rank);
      }
    }
    arrival.signal = parts_before[arrivals_.size() % buffers] += arrival.senders.size();
    number_of_step_[static_cast<std::size_t>(delivery.step)] = static_cast<int>(arrivals_.size());
    arrivals_.push_back(std::move(arrival));
  }
}

template <class T>
void Shifts<T>::plan_sends(std::span<const int> nodes) {
  for (int worker = 0; worker < grid_.workers(); ++worker) {
    Queue queue;
    std::size_t number = 0;
    for (const Delivery& delivery : deliveries(factor_, grid_, operand_, worker, nodes)) {
      if (delivery.before == team_.rank()) {
        queue.sends.push_back({number, {team_.rank(), delivery.rows, delivery.columns}, delivery.step - 1});
        if (const int held = number_of_step_[static_cast<std::size_t>(delivery.step - 1)]; held >= 0) {
          ++arrivals_[static_cast<std::size_t>(held)].to_hand_on;
        }
      } else if (!delivery.before) {
        for (const auto& part : operand_.parts(delivery.rows, delivery.columns)) {
          if (part.rank == team_.rank()) {
            queue.sends.push_back({number, part, std::nullopt});
          }
        }
      }
      ++number;
    }
    if (!queue.sends.empty()) {
      sends_left_ += queue.sends.size();
      queues_.emplace(worker, std::move(queue));
    }
  }
}

template <class T>
void Shifts<T>::give_credit(std::size_t number) {
  if (number < arrivals_.size()) {
    for (const int sender : arrivals_[number].senders) {
      segment_.notify(sender, buffers + static_cast<std::size_t>(team_.rank()));
    }
  }
}

template <class T>
void Shifts<T>::start() {
  for (std::size_t number = 0; number < buffers; ++number) {
    give_credit(number);
  }
}

template <class T>
T* Shifts<T>::buffer(std::size_t number) const {
  return segment_.local_as<T>().data() + number % buffers * buffer_elements_;
}

template <class T>
bool Shifts<T>::is_here(const Arrival& arrival) const {
  const auto number = static_cast<std::size_t>(&arrival - arrivals_.data());
  return segment_.value(number % buffers) >= arrival.signal;
}

template <class T>
auto Shifts<T>::arrival_of(int step) const -> const Arrival* {
  const int number = number_of_step_[static_cast<std::size_t>(step)];
  return number < 0 ? nullptr : &arrivals_[static_cast<std::size_t>(number)];
}

template <class T>
bool Shifts<T>::has_arrived(int step) const {
  const Arrival* arrival = arrival_of(step);
  return arrival == nullptr || is_here(*arrival);
}

template <class T>
int Shifts<T>::sender(int step) const {
  const Arrival* arrival = arrival_of(step);
  return arrival == nullptr ? -1 : team_.world_rank(arrival->senders.front());
}

template <class T>
int Shifts<T>::receiver() const {
  if (!receivers_.empty()) {
    return team_.world_rank(receivers_.front());
  }
  const auto queue =
      std::ranges::find_if(queues_, [](const auto& each) { return each.second.begun < each.second.sends.size(); });
  return queue == queues_.end() ? -1 : team_.world_rank(queue->first);
}

template <class T>
Panel Shifts<T>::panel(int step) const {
  const auto [rows, columns] = wanted(factor_, grid_, team_.rank(), step);
  if (rows.extent == 0 || columns.extent == 0) {
    return {};
  }
  const Arrival* const arrival = arrival_of(step);
  if (arrival == nullptr) {
    return {{rows, columns, operand_.in_place(rows, columns).value()}};
  }
  const T* const data = buffer(static_cast<std::size_t>(arrival - arrivals_.data()));
  Panel panel;
  for (const auto& part : operand_.parts(rows, columns)) {
    panel.push_back({part.rows, part.columns, operand_.fetched(part.rows, part.columns, data + part.before)});
  }
  return panel;
}

/// Where what is sent lies: a buffer that is handed on as it is, or rows and columns of the factor itself.
template <class T>
auto Shifts<T>::source_of(const Send& send) const -> Source {
  const auto bytes = send.part.elements() * std::int64_t{sizeof(T)};
  if (const Arrival* const held = send.step ? arrival_of(*send.step) : nullptr; held != nullptr) {
    const T* const data = buffer(static_cast<std::size_t>(held - arrivals_.data()));
    return {reinterpret_cast<const std::byte*>(data), layout::Layout::contiguous(bytes)};
  }
  const Block block = operand_.in_place(send.part.rows, send.part.columns).value();
  return {block.data, operand_.layout_of(block, send.part.rows, send.part.columns)};
}

template <class T>
bool Shifts<T>::try_send(int to, Queue& queue) {
  if (queue.begun == queue.sends.size()) {
    return false;
  }
  const Send& send = queue.sends[queue.begun];
  const bool has_credit = segment_.value(buffers + static_cast<std::size_t>(to)) > queue.begun;
  if (!has_credit || (send.step && !has_arrived(*send.step))) {
    return false;
  }
  const Source source = source_of(send);
  const std::size_t element = send.number % buffers * buffer_elements_ + static_cast<std::size_t>(send.part.before);
  gas::Put put = segment_.start_put_signal({to, element * sizeof(T)}, layout::Layout::contiguous(source.layout.bytes()),
                                           source.data, source.layout, send.number % buffers);
  if (send.step) {
    if (const int number = number_of_step_[static_cast<std::size_t>(*send.step)]; number >= 0) {
      Arrival& arrival = arrivals_[static_cast<std::size_t>(number)];
      arrival.handed_on.push_back(std::move(put.source));
      --arrival.to_hand_on;
    }
  }
  under_way_.push_back(std::move(put.remote));
  receivers_.push_back(to);
  ++queue.begun;
  --sends_left_;
  return true;
}

template <class T>
void Shifts<T>::free_buffers() {
  while (freed_ < arrivals_.size() && arrivals_[freed_].is_used) {
    Arrival& arrival = arrivals_[freed_];
    if (arrival.to_hand_on > 0 ||
        !std::ranges::all_of(arrival.handed_on, [](gas::Event& event) { return event.test(); })) {
      return;
    }
    give_credit(freed_ + buffers);
    ++freed_;
  }
}

template <class T>
void Shifts<T>::advance() {
  for (auto& [to, queue] : queues_) {
    while (try_send(to, queue)) {
    }
  }
  while (!under_way_.empty() && under_way_.front().test()) {
    under_way_.pop_front();
    receivers_.pop_front();
  }
  free_buffers();
}

template <class T>
void Shifts<T>::release(int step) {
  const int number = number_of_step_[static_cast<std::size_t>(step)];
  if (number >= 0) {
    Arrival& arrival = arrivals_[static_cast<std::size_t>(number)];
    arrival.is_used = true;
    received_bytes_ += arrival.delivery.rows.extent * arrival.delivery.columns.extent * std::int64_t{sizeof(T)};
  }
}

template class Shifts<float>;
template class Shifts<double>;
template class Shifts<std::complex<float>>;
template class Shifts<std::complex<double>>;

}  // namespace penstock::gemm
