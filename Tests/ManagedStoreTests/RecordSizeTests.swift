import Testing

@testable import Salvage

@Suite("Sizes of a record's values")
struct RecordSizeTests {
  @Test("each serial type has the size that SQLite's file format gives it")
  func sizes() {
    let first = (0...15).map { Record.size(of: UInt64($0)) }
    #expect(first == [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, nil, nil, 0, 0, 1, 1])
    #expect(Record.size(of: 88) == 38)
    #expect(Record.size(of: 89) == 38)
    #expect(Record.size(of: 12 + 2 * TreeCell.mostBytes) == Int(TreeCell.mostBytes))
    #expect(Record.size(of: 14 + 2 * TreeCell.mostBytes) == nil)
    #expect(Record.size(of: .max) == nil)
  }

  @Test("a number of one byte and of many ends where it ends, and never beyond")
  func numbers() {
    let bytes: [UInt8] = [0x7F, 0x81, 0x00] + [UInt8](repeating: 0xFF, count: 9) + [0x80]
    bytes.withUnsafeBytes { bytes in
      var place = 0
      #expect(Varint.read(bytes, at: &place, before: 0) == nil)
      #expect(Varint.read(bytes, at: &place, before: 13) == 127)
      #expect(place == 1)
      #expect(Varint.read(bytes, at: &place, before: 13) == 128)
      #expect(place == 3)
      #expect(Varint.read(bytes, at: &place, before: 13) == .max)
      #expect(place == 12)
      #expect(Varint.read(bytes, at: &place, before: 13) == nil)
    }
  }
}
