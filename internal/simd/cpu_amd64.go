package simd

import "golang.org/x/sys/cpu"

var fast = cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasPOPCNT
