# SPDX-License-Identifier: BSD-3-Clause
# From a disk's boot sector to 64-bit code on each processor: nothing but this and wait_machine.cpp runs on the emulated
# machine. Memory: page tables from 0x1000, this from 0x7c00, stacks below 0x80000 and 0x70000.
.set SECTORS, 128  # of the image, behind the boot sector

.section .boot, "awx"
.code16
.globl _start
_start:
  cli
  xorw %ax, %ax
  movw %ax, %ds
  movw %ax, %es
  movw %ax, %ss
  movw $0x7c00, %sp
  movw $SECTORS, %cx
read:  # one sector after the other: none crosses a segment
  movw $packet, %si
  movb $0x42, %ah
  int $0x13
  jc stop
  addw $0x20, packet_segment
  incl packet_sector
  loop read
  # No interrupt from here on, nor one that waits to be taken: it would end each wait.
  movb $0xff, %al
  outb %al, $0xa1
  outb %al, $0x21
  sti
  nop
  nop
  cli
  # Page tables: the first gigabyte, and the fourth, where the processors' interrupt controllers are.
  movw $0x1000, %di
  xorl %eax, %eax
  movw $0x1000, %cx
  rep stosl
  movl $0x2003, 0x1000
  movl $0x3003, 0x2000
  movl $0x4003, 0x2018
  movl $0x00000083, %eax
  movw $0x3000, %di
  call fill
  movl $0xc0000093, %eax
  movw $0x4000, %di
  call fill
  ljmp $0, $processor
fill:
  movw $512, %cx
1:
  movl %eax, (%di)
  addl $0x200000, %eax
  addw $8, %di
  loop 1b
  ret
stop:
  hlt
  jmp stop
packet:
  .byte 16, 0
  .word 1  # sectors
  .word 0  # offset
packet_segment:
  .word 0x7e0
packet_sector:
  .quad 1
.org 510
  .word 0xaa55

# Each processor begins here: the first by a jump, the others by the interrupt that wakes them (0x8000 is page 8).
.section .processor, "awx"
.code16
processor:
  cli
  ljmp $0, $1f
1:
  xorw %ax, %ax
  movw %ax, %ds
  lgdt descriptors
  movl %cr4, %eax
  orl $0x620, %eax  # physical address extension; SSE and its exceptions
  movl %eax, %cr4
  movl $0x1000, %eax
  movl %eax, %cr3
  movl $0xc0000080, %ecx
  rdmsr
  orl $0x100, %eax  # long mode
  wrmsr
  # Only memory that is cached, and written back, can be watched.
  movl $0x2ff, %ecx
  movl $0x806, %eax
  xorl %edx, %edx
  wrmsr
  movl %cr0, %eax
  andl $0x9ffffffb, %eax  # caches on; no emulation of the floating-point unit
  orl $0x80000003, %eax  # paging, monitoring of it, protection
  movl %eax, %cr0
  ljmpl $8, $long_mode
.align 8
segments:
  .quad 0
  .quad 0x00209a0000000000  # code
  .quad 0x0000920000000000  # data
descriptors:
  .word descriptors - segments - 1
  .long segments

.code64
long_mode:
  movw $16, %ax
  movw %ax, %ds
  movw %ax, %es
  movw %ax, %ss
  movl $1, %eax
  cpuid
  shrl $24, %ebx  # which processor
  movl $0x80000, %esp
  testl %ebx, %ebx
  jz 1f
  movl $0x70000, %esp
1:
  movl %ebx, %edi
  call run
2:
  hlt
  jmp 2b
