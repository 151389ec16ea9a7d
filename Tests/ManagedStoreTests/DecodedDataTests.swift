import ManagedModel
import ModelWriting
import TestSupport
import Testing

@testable import ManagedStore

@Suite("Packed values")
struct DecodedDataTests {
  @Test("gzip is taken away, however often it was packed")
  func layers() throws {
    let text = Array("{\"a\":1}".utf8)
    var packed = text
    for layers in 1...DecodedData.mostLayers {
      packed = try TarWriter.gzip(packed)
      let decoded = DecodedData(packed)
      #expect(decoded.layers == layers)
      #expect(decoded.bytes == text && decoded.isWhole && decoded.problem == nil)
    }
    let deeper = DecodedData(try TarWriter.gzip(packed))
    #expect(deeper.layers == DecodedData.mostLayers)
    #expect(deeper.problem?.contains("8 times") == true)
    #expect(DecodedData(text).layers == 0)
  }

  @Test("a bomb stays packed, with a sentence")
  func bomb() throws {
    let zeros = [UInt8](repeating: 0, count: 8 << 20)
    let packed = try TarWriter.gzip(zeros)
    let decoded = DecodedData(packed)
    #expect(decoded.problem != nil && decoded.bytes == packed && decoded.layers == 0)
  }

  @Test("damaged and cut data end in a sentence or in what is there")
  func damaged() throws {
    var generator = SeededGenerator(seed: 7)
    let text = (0..<20_000).map { _ in UInt8.random(in: 32..<127, using: &generator) }
    let packed = try TarWriter.gzip(text)
    let cut = DecodedData(Array(packed.prefix(packed.count / 2)))
    #expect(cut.problem == "the gzip data is damaged" && !cut.isWhole)
    let part = DecodedData(Array(packed.prefix(packed.count / 2)), isWhole: false)
    #expect(part.problem == nil && !part.isWhole && text.starts(with: part.bytes))
    #expect(!part.bytes.isEmpty)
    for _ in 0..<300 {
      var mutated = packed
      let place = Int.random(in: 3..<mutated.count, using: &generator)
      mutated[place] ^= UInt8.random(in: 1...255, using: &generator)
      let decoded = DecodedData(mutated)
      #expect(decoded.bytes.count <= DecodedData.mostBytes)
    }
  }

  @Test("what is packed in an archive is unfolded with it, and a bomb in one is a sentence")
  func nested() throws {
    func archive(_ data: [UInt8]) -> [UInt8] {
      var writer = KeyedArchiveWriter()
      let inner = writer.add(.data(data))
      return writer.bytes(root: writer.add(class: ["App.Box", "NSObject"], ["inner": inner]))
    }
    let list = PropertyList.binary(.dictionary(["course": .string("dessert")]))
    let box = DecodedData(archive(try TarWriter.gzip(list)))
    #expect(
      box.content().lines == [
        "App.Box",
        "  inner: \(try TarWriter.gzip(list).count) bytes: gzip of property list, dictionary of 1",
        "    course: \"dessert\"",
      ])
    let bomb = DecodedData(archive(try TarWriter.gzip([UInt8](repeating: 0, count: 8 << 20))))
    let lines = bomb.content().lines
    #expect(lines.count == 2 && lines[1].hasSuffix("! it unpacks to more than 1000 times its size"))
    // Each archive holds another twice: what is shown of all is bounded.
    var deep = list
    for _ in 0..<7 {
      deep = PropertyList.binary(.array([.data(deep), .data(deep + [0]), .data(deep)]))
    }
    let took = ProcessorTime.seconds {
      #expect(DecodedData(deep).content(maximumLines: 500).lines.count <= 501)
    }
    #expect(took < 20)
  }

  @Test("the texts in unpacked bytes of no known form are shown")
  func runs() throws {
    let note = [0x08, 0x00, 0x12, 0x10] + Array("Buy leeks, Zoë".utf8) + [0x1A, 0x00, 0xFF]
    let data = DecodedData(try TarWriter.gzip(note))
    #expect(data.heading == "gzip of bytes")
    #expect(data.lines(of: data.content()) == ["Buy leeks, Zoë"])
    #expect(DecodedData(note).lines(of: DecodedData(note).content()) == [])
  }

  @Test("neither names nor text come out with a control character")
  func hostile() throws {
    let evil = "a\u{1B}[2J\u{9B}1mb\u{7}\u{202E}c\u{7F}d"
    var writer = KeyedArchiveWriter()
    let root = writer.add(class: [evil, "NSObject"], [evil: writer.string(evil)])
    let values = [
      writer.bytes(root: root), PropertyList.binary(.dictionary([evil: .string(evil)])),
      Array("{\"\(evil)\": \"\(evil)\"}".utf8), Array(evil.utf8),
      Array("{\"k\": \"\\u001b[2J\"}".utf8),
    ]
    for value in try values + values.map(TarWriter.gzip) {
      let data = DecodedData(value)
      let lines = data.lines(of: data.content())
      for line in lines {
        #expect(
          line.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) },
          "\(ByteText.hex(Array(line.utf8)))")
      }
    }
  }
}
