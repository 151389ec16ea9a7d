import Testing

@testable import ManagedStore
@testable import Salvage

@Suite("What looks overwritten of a value")
struct ValueDoubtsTests {
  private static func doubts(_ types: [UInt8], _ body: [UInt8], _ column: Int) -> ValueDoubts {
    var record = Record()
    let bytes = [UInt8(types.count + 1)] + types + body
    let isRead = record.read(bytes, 0..<bytes.count)
    #expect(isRead)
    return ValueDoubts(record, column, .utf8)
  }

  @Test("control characters in a text, and no tabs or line ends")
  func texts() {
    #expect(Self.doubts([19], [0x61, 9, 10], 0).isEmpty)
    #expect(Self.doubts([19], [0x61, 0, 0x62], 0) == .control)
    #expect(Self.doubts([19], [0x61, 0x1B, 0x62], 0) == .control)
  }

  @Test("numbers that take more room than SQLite gives them")
  func numbers() {
    #expect(Self.doubts([4], [0, 0, 0, 0], 0).contains(.number))
    #expect(Self.doubts([4], [0, 1, 2, 3], 0).contains(.number))
    #expect(Self.doubts([4], [1, 1, 2, 3], 0).isEmpty)
    #expect(Self.doubts([6], [0xFF, 0, 0, 0, 0, 0, 0, 1], 0).isEmpty)
    // 1.5 and 2.0: SQLite writes the latter as a whole number.
    #expect(Self.doubts([7, 1], [0x3F, 0xF8, 0, 0, 0, 0, 0, 0, 5], 0).isEmpty)
    #expect(Self.doubts([7, 1], [0x40, 0, 0, 0, 0, 0, 0, 0, 5], 0) == .number)
  }

  @Test("blobs of zeros, and those that end otherwise than they begin")
  func blobs() {
    #expect(Self.doubts([28, 1], [0, 0, 0, 0, 0, 0, 0, 0, 7], 0) == .zeros)
    #expect(Self.doubts([28, 1], Array("bplist00".utf8) + [7], 0) == .form)
    #expect(Self.doubts([22], [0xFF, 0xD8, 0xFF, 0xFF, 0xD9], 0).isEmpty)
    #expect(Self.doubts([22], [0xFF, 0xD8, 0xFF, 0xFF, 0xD8], 0) == .form)
  }

  @Test("what rows of the store have in the same column says nothing")
  func usual() {
    var rows = DoubtfulRows(tables: 1, encoding: .utf8)
    var record = Record()
    // The null of the key, Z_ENT, Z_OPT, a text with a NUL, and a number.
    let bytes: [UInt8] = [6, 0, 1, 1, 17, 1, 4, 1, 0x61, 0, 9]
    let isRead = record.read(bytes, 0..<bytes.count)
    #expect(isRead)
    let isTaken = rows.add(record, 0, pk: -1)
    #expect(isTaken)
    var partial: [Int64] = []
    rows.forEach { _, pk, isOfCells in if isOfCells { partial.append(pk) } }
    #expect(partial == [-1])
    rows.compare(record, 0)
    partial = []
    rows.forEach { _, pk, _ in partial.append(pk) }
    #expect(partial.isEmpty)
  }
}
