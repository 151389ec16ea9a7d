/// What an xterm would show, roughly: a character a cell, no colours, wide ones as one.
struct DrawnScreen {
  private(set) var rows: [[Character]]
  private let width: Int
  private var x = 0
  private var y = 0
  private var top = 0
  private var bottom: Int
  private var pending: [UInt8] = []
  private var last: Character = " "

  init(width: Int, height: Int) {
    self.width = width
    bottom = height - 1
    rows = Array(repeating: Array(repeating: " ", count: width), count: height)
  }

  var text: String { rows.map { String($0) }.joined(separator: "\n") }
  func row(_ index: Int) -> String { rows.indices.contains(index) ? String(rows[index]) : "" }

  mutating func take(_ bytes: some Sequence<UInt8>) {
    pending += bytes
    var index = 0
    while index < pending.count {
      let byte = pending[index]
      if byte == 0x1B {
        guard let end = sequenceEnd(from: index) else { break }
        control(Array(pending[index..<end]))
        index = end
        continue
      }
      switch byte {
      case 0x0D: x = 0
      case 0x0A: lineFeed()
      case 0x08: x = max(0, x - 1)
      case 0..<0x20: break
      default:
        let length = byte < 0x80 ? 1 : byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2
        guard index + length <= pending.count else {
          pending.removeFirst(index)
          return
        }
        put(Character(String(decoding: pending[index..<(index + length)], as: UTF8.self)))
        index += length
        continue
      }
      index += 1
    }
    pending.removeFirst(index)
  }

  private func sequenceEnd(from start: Int) -> Int? {
    guard start + 1 < pending.count else { return nil }
    switch pending[start + 1] {
    case UInt8(ascii: "["):
      return pending[(start + 2)...].firstIndex { (0x40...0x7E).contains($0) }.map { $0 + 1 }
    case UInt8(ascii: "]"): return pending[(start + 2)...].firstIndex(of: 7).map { $0 + 1 }
    case UInt8(ascii: "("), UInt8(ascii: ")"):
      return start + 3 <= pending.count ? start + 3 : nil
    default: return start + 2
    }
  }

  private mutating func control(_ bytes: [UInt8]) {
    guard bytes.count > 2, bytes[1] == UInt8(ascii: "["), let final = bytes.last else {
      if bytes.last == UInt8(ascii: "M") { reverseLineFeed() }
      return
    }
    let numbers = String(decoding: bytes[2..<(bytes.count - 1)], as: UTF8.self)
      .split(separator: ";", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
    let first = max(1, numbers.first ?? 1)
    switch Character(Unicode.Scalar(final)) {
    case "H", "f":
      y = first - 1
      x = max(1, numbers.count > 1 ? numbers[1] : 1) - 1
    case "d": y = first - 1
    case "G": x = first - 1
    case "A": y -= first
    case "B": y += first
    case "C": x += first
    case "D": x -= first
    case "X": fill(y, x..<min(width, x + first))
    case "b": for _ in 0..<first { put(last) }
    case "K":
      switch numbers.first ?? 0 {
      case 1: fill(y, 0..<min(width, x + 1))
      case 2: fill(y, 0..<width)
      default: fill(y, x..<width)
      }
    case "J":
      if numbers.first == 2 {
        for row in rows.indices { fill(row, 0..<width) }
      } else {
        fill(y, x..<width)
        for row in rows.indices where row > y { fill(row, 0..<width) }
      }
    case "r":
      top = first - 1
      bottom = (numbers.count > 1 && numbers[1] > 0 ? numbers[1] : rows.count) - 1
    case "L": for _ in 0..<first { scroll(from: y, down: true) }
    case "M": for _ in 0..<first { scroll(from: y, down: false) }
    case "S": for _ in 0..<first { scroll(from: top, down: false) }
    case "T": for _ in 0..<first { scroll(from: top, down: true) }
    case "P":
      guard rows.indices.contains(y), x < width else { break }
      let count = min(first, width - x)
      rows[y].removeSubrange(x..<(x + count))
      rows[y] += Array(repeating: " ", count: count)
    case "@":
      guard rows.indices.contains(y), x < width else { break }
      let count = min(first, width - x)
      rows[y].insert(contentsOf: Array(repeating: " ", count: count), at: x)
      rows[y].removeLast(count)
    default: break
    }
    y = min(max(0, y), rows.count - 1)
    x = min(max(0, x), width)
  }

  private mutating func put(_ character: Character) {
    last = character
    if x >= width {
      x = 0
      lineFeed()
    }
    rows[y][x] = character
    x += 1
  }

  private mutating func fill(_ row: Int, _ columns: Range<Int>) {
    guard rows.indices.contains(row), columns.lowerBound <= columns.upperBound else { return }
    for column in columns.clamped(to: 0..<width) { rows[row][column] = " " }
  }

  private mutating func lineFeed() {
    if y == bottom { scroll(from: top, down: false) } else { y = min(rows.count - 1, y + 1) }
  }

  private mutating func reverseLineFeed() {
    if y == top { scroll(from: top, down: true) } else { y = max(0, y - 1) }
  }

  private mutating func scroll(from first: Int, down: Bool) {
    guard first <= bottom, rows.indices.contains(first), rows.indices.contains(bottom) else {
      return
    }
    let blank = [Character](repeating: " ", count: width)
    if down {
      rows.remove(at: bottom)
      rows.insert(blank, at: first)
    } else {
      rows.remove(at: first)
      rows.insert(blank, at: bottom)
    }
  }
}
