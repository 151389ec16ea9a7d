import ManagedModel
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
}
