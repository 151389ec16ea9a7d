import ManagedModel

/// A keyed permutation of sequences of symbols, in which no sequence stays as it is.
///
/// Sequences of the same shape (the same context and radices) are permuted among themselves, so that two that differ
/// become two that differ. A permutation with one cycle moves everything: of few sequences it is shuffled, of many it
/// is the step to the next number between a Feistel network and its inverse.
package final class SymbolCipher {
  /// Up to this, all sequences of a shape stand in a table.
  private static let smallest = 4096
  /// Those of one place do up to this: a Feistel network has no second half for them.
  private static let largestAlphabet = 1 << 16
  private static let mostTables = 2000
  /// Longer sequences are replaced symbol by symbol, by a stream that depends on all of them.
  private static let longest = 8192

  private let hash: KeyedHash
  private var cycles: [[UInt8]: [UInt16]] = [:]

  init(_ hash: KeyedHash) { self.hash = hash }

  /// Another sequence of the same shape; the same one where the shape has no other.
  ///
  /// - Parameters:
  ///   - radices: how many symbols there are in each place; each at least 1.
  ///   - context: what else shapes have that are not to be related.
  package func replaced(_ symbols: [Int], radices: [Int], context: [UInt8]) -> [Int] {
    guard radices.contains(where: { $0 > 1 }) else { return symbols }
    var shape = context
    for radix in radices { shape.append(number: UInt32(radix)) }
    shape = hash.digest(shape)
    guard symbols.count <= Self.longest else { return streamed(symbols, radices, shape) }
    var size = 1
    for radix in radices {
      let (product, isTooLarge) = size.multipliedReportingOverflow(by: radix)
      size = isTooLarge ? .max : product
      if isTooLarge { break }
    }
    let isAlone = radices.count { $0 > 1 } == 1 && size <= Self.largestAlphabet
    guard size > Self.smallest, !isAlone else { return cycled(symbols, radices, size, shape) }
    // Of so many, one in 2⁶³ would stay.
    guard size < .max else { return mixed(symbols, radices, shape, rounds: 6) }
    let number = mixed(symbols, radices, shape, rounds: 10)
    return unmixed(Self.next(number, radices), radices, shape, rounds: 10)
  }

  private func cycled(
    _ symbols: [Int], _ radices: [Int], _ size: Int, _ shape: [UInt8]
  ) -> [Int] {
    let cycle = cycles[shape] ?? makeCycle(size, shape)
    var number = zip(symbols, radices).reduce(0) { $0 * $1.1 + $1.0 }
    guard cycle.indices.contains(number) else { return symbols }
    number = Int(cycle[number])
    var result = symbols
    for index in symbols.indices.reversed() {
      result[index] = number % radices[index]
      number /= radices[index]
    }
    return result
  }

  /// Sattolo's shuffle: a permutation with one cycle, each as likely as another.
  private func makeCycle(_ size: Int, _ shape: [UInt8]) -> [UInt16] {
    var stream = KeyedStream(hash, shape + Array("cycle".utf8))
    var items = (0..<size).map { UInt16($0) }
    for index in stride(from: size - 1, to: 0, by: -1) {
      items.swapAt(index, Int(stream.next() % UInt64(index)))
    }
    if cycles.count >= Self.mostTables { cycles.removeAll() }
    cycles[shape] = items
    return items
  }

  private func streamed(_ symbols: [Int], _ radices: [Int], _ shape: [UInt8]) -> [Int] {
    var stream = KeyedStream(hash, shape + label(symbols[...], 0))
    let numbers = Self.numbers(symbols.count, &stream)
    return symbols.indices.map { (symbols[$0] + numbers[$0] % radices[$0]) % radices[$0] }
  }

  private func mixed(
    _ symbols: [Int], _ radices: [Int], _ shape: [UInt8], rounds: Int
  ) -> [Int] {
    var result = symbols
    for round in 0..<rounds { turn(&result, radices, shape, round, sign: 1) }
    return result
  }

  private func unmixed(
    _ symbols: [Int], _ radices: [Int], _ shape: [UInt8], rounds: Int
  ) -> [Int] {
    var result = symbols
    for round in (0..<rounds).reversed() { turn(&result, radices, shape, round, sign: -1) }
    return result
  }

  /// One half gets numbers added that depend on the other.
  private func turn(
    _ symbols: inout [Int], _ radices: [Int], _ shape: [UInt8], _ round: Int, sign: Int
  ) {
    let middle = symbols.count / 2
    let (read, written) =
      round.isMultiple(of: 2)
      ? (0..<middle, middle..<symbols.count) : (middle..<symbols.count, 0..<middle)
    guard !written.isEmpty else { return }
    var stream = KeyedStream(hash, shape + label(symbols[read], round + 1))
    let numbers = Self.numbers(written.count, &stream)
    for (index, number) in zip(written, numbers) {
      let radix = radices[index]
      let step = number % radix
      symbols[index] = (symbols[index] + (sign > 0 ? step : radix - step)) % radix
    }
  }

  private func label(_ symbols: ArraySlice<Int>, _ round: Int) -> [UInt8] {
    var label: [UInt8] = [UInt8(truncatingIfNeeded: round)]
    label.reserveCapacity(1 + symbols.count * 4)
    for symbol in symbols { label.append(number: UInt32(truncatingIfNeeded: symbol)) }
    return label
  }

  private static func numbers(_ count: Int, _ stream: inout KeyedStream) -> [Int] {
    let bytes = stream.bytes(count * 4)
    return (0..<count).map { place in
      bytes[place * 4..<place * 4 + 4].reduce(0) { $0 << 8 | Int($1) }
    }
  }

  /// The sequence after another, in the order of numbers written with these radices.
  private static func next(_ symbols: [Int], _ radices: [Int]) -> [Int] {
    var result = symbols
    for index in result.indices.reversed() {
      result[index] += 1
      if result[index] < radices[index] { break }
      result[index] = 0
    }
    return result
  }
}
