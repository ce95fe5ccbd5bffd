/** Types of packages that have none: only the parts that are used here. */

declare module '@jitsi/rnnoise-wasm/dist/rnnoise.js' {
  interface RnnoiseModule {
    readonly HEAPF32: Float32Array;
    _malloc(bytes: number): number;
    _rnnoise_create(model: number): number;
    /** Denoises one frame of 480 samples; `output` may be `input`. */
    _rnnoise_process_frame(state: number, output: number, input: number): number;
  }
  export default function createRnnoise(options: { wasmBinary: Uint8Array }): Promise<RnnoiseModule>;
}

declare module 'sherpa-onnx-node' {
  interface SpeechSegment {
    /** First sample, counted from the start of all input. */
    readonly start: number;
    readonly samples: Float32Array;
  }
  interface VadConfig {
    sileroVad: {
      model: string;
      threshold: number;
      minSilenceDuration: number;
      minSpeechDuration: number;
      maxSpeechDuration: number;
      windowSize: number;
    };
    sampleRate: number;
    numThreads: number;
  }
  class Vad {
    constructor(config: VadConfig, bufferSeconds: number);
    acceptWaveform(samples: Float32Array): void;
    isEmpty(): boolean;
    front(enableExternalBuffer?: boolean): SpeechSegment;
    pop(): void;
    flush(): void;
    reset(): void;
  }
  interface RecognitionResult {
    readonly text: string;
    readonly tokens?: readonly string[];
    readonly timestamps?: readonly number[];
    readonly lang?: string;
    /** Phrases of Whisper with `enableSegmentTimestamps`, in seconds. */
    readonly segment_texts?: readonly string[];
    readonly segment_timestamps?: readonly number[];
    readonly segment_durations?: readonly number[];
  }
  interface OfflineStream {
    acceptWaveform(sound: { samples: Float32Array; sampleRate: number }): void;
    setOption(key: string, value: string): void;
  }
  class OfflineRecognizer {
    constructor(config: object);
    createStream(hotwords?: string): OfflineStream;
    decode(stream: OfflineStream): void;
    getResult(stream: OfflineStream): RecognitionResult;
  }
  interface SpeakerSettings {
    sid: number;
    speed: number;
  }
  class OfflineTts {
    constructor(config: object);
    readonly numSpeakers: number;
    generate(
      request: { text: string; enableExternalBuffer: boolean } & (
        | SpeakerSettings
        | {
            generationConfig: SpeakerSettings & {
              numSteps: number;
              extra: Readonly<Record<string, string>>;
              referenceAudio?: Float32Array;
              referenceSampleRate?: number;
              referenceText?: string;
            };
          }
      ),
    ): { samples: Float32Array; sampleRate: number };
  }
  class OfflineSpeakerDiarization {
    constructor(config: object);
    /** One call without progress. @param samples 16 kHz mono */
    process(samples: Float32Array): { start: number; end: number; speaker: number }[];
  }
  const sherpa: {
    Vad: typeof Vad;
    OfflineRecognizer: typeof OfflineRecognizer;
    OfflineTts: typeof OfflineTts;
    OfflineSpeakerDiarization: typeof OfflineSpeakerDiarization;
  };

  export type { OfflineRecognizer, OfflineSpeakerDiarization, OfflineTts, RecognitionResult };
  export default sherpa;
}
