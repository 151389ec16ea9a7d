import CPictures

/// What is called of TurboJPEG, whose calls return instead of jumping.
struct TurboJPEGLibrary: Sendable {
  typealias Handle = UnsafeMutableRawPointer
  typealias Start = @convention(c) () -> Handle?
  typealias Destroy = @convention(c) (Handle) -> Int32
  typealias Header =
    @convention(c) (
      Handle, UnsafePointer<UInt8>, UInt, UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>,
      UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>
    ) -> Int32
  typealias Decompress =
    @convention(c) (
      Handle, UnsafePointer<UInt8>, UInt, UnsafeMutablePointer<UInt8>, Int32, Int32, Int32, Int32,
      Int32
    ) -> Int32
  typealias Factors =
    @convention(c) (UnsafeMutablePointer<Int32>) -> UnsafePointer<
      strata_tj_factor
    >?
  typealias ErrorCode = @convention(c) (Handle) -> Int32
  typealias ErrorText = @convention(c) (Handle) -> UnsafePointer<CChar>?

  /// tjInitDecompress
  let start: Start
  /// tjDestroy
  let destroy: Destroy
  /// tjDecompressHeader3
  let header: Header
  /// tjDecompress2
  let decompress: Decompress
  /// tjGetScalingFactors
  let factors: Factors
  /// tjGetErrorCode
  let errorCode: ErrorCode
  /// tjGetErrorStr2
  let errorText: ErrorText

  /// TJPF_RGBA
  static let rgba: Int32 = 7
  /// TJPF_CMYK
  static let cmyk: Int32 = 11
  /// TJCS_CMYK and TJCS_YCCK
  static let cmykSpaces: Set<Int32> = [3, 4]
  /// TJFLAG_LIMITSCANS
  static let limitScans: Int32 = 32768
  /// TJERR_WARNING
  static let warning: Int32 = 0

  /// By the name that programs link, and by that which comes with its headers.
  static let library = SharedLibrary([
    "libturbojpeg.so.0", "libturbojpeg.so", "libturbojpeg.0.dylib",
    "/opt/homebrew/lib/libturbojpeg.0.dylib",
  ])

  /// `nil` where the library is not installed.
  static let installed = TurboJPEGLibrary()

  private init?() {
    guard let library = Self.library,
      let start: Start = library.function("tjInitDecompress"),
      let destroy: Destroy = library.function("tjDestroy"),
      let header: Header = library.function("tjDecompressHeader3"),
      let decompress: Decompress = library.function("tjDecompress2"),
      let factors: Factors = library.function("tjGetScalingFactors"),
      let errorCode: ErrorCode = library.function("tjGetErrorCode"),
      let errorText: ErrorText = library.function("tjGetErrorStr2")
    else { return nil }
    (self.start, self.destroy, self.header) = (start, destroy, header)
    (self.decompress, self.factors) = (decompress, factors)
    (self.errorCode, self.errorText) = (errorCode, errorText)
  }
}
